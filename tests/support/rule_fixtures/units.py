"""Rules whose fixtures are in the unit tests: edits of ELF files and what their proof finds, damage that no linker writes, names that no
file has on its way into a command, files that change while they are read, searches that take too long."""

from __future__ import annotations

from . import UnitPair


def damage(fires: str) -> UnitPair:
    """A row of the table of damaged headers; the same libraries without damage have no finding."""
    return UnitPair("src/elf/verify_test.cpp", fires, "Verify.FixturesAreSound")


def edit(fires: str, passes: str) -> UnitPair:
    return UnitPair("src/elf/edit_test.cpp", fires, passes)


def launcher(fires: str, passes: str) -> UnitPair:
    return UnitPair("src/elf/launcher_test.cpp", fires, passes)


def names(fires: str, passes: str) -> UnitPair:
    return UnitPair("src/dist/name_test.cpp", fires, passes)


def archive(fires: str, passes: str) -> UnitPair:
    return UnitPair("src/zip/writer_test.cpp", f"ZipWriter.{fires}", f"ZipWriter.{passes}")


PAIRS = {
    "Z020": archive("NoticesAFileThatChangesWhileItIsPacked", "IsReadBackByUsAndByPython"),
    "Z023": archive("KeepsNoMemberWhosePackedSizeHasNoPlace", "RewritesWithKeptAndNewEntriesInOrder"),
    "W014": UnitPair("src/wheel/open_file_test.cpp", "OpenFileTest.ReadsNothingBehindItsEnd", "OpenFileTest.ReadsWhatWasWritten"),
    "W030": UnitPair("src/wheel/renew_test.cpp", "Renew.RefusesAWheelWhoseNameWouldStay", "Renew.ChangesNameMetadataAndModulesAndKeepsTheRest"),
    "W031": UnitPair("src/wheel/renew_test.cpp", "Renew.ProvesNothingThatWasChangedOtherwise", "Renew.ChangesNameMetadataAndModulesAndKeepsTheRest"),
    "M001": names("ProjectName.RefusesWhatNoIndexAccepts", "ProjectName.HasOneNormalForm"),
    "M002": names("WheelName.RefusesWithM002", "WheelName.KeepsTheWrittenAndTheNormalForm"),
    "M003": names("SdistName.SplitsAtTheLastDash", "SdistName.SplitsAtTheLastDash"),
    "M004": UnitPair("src/dist/vectors_test.cpp", "Version.BoundsItsText", "Version.FormsThatRocmUses"),
    "M009": UnitPair("src/dist/metadata_test.cpp", "EntryPoints.RefusesWhatReadersDisagreeOnAndDangerousScripts", "EntryPoints.ReadsGroupsCommentsAndUniformIndentation"),
    "M013": UnitPair("src/dist/manylinux_test.cpp", "Manylinux.TagsWithoutAVerdictAreRefused", "Manylinux.TheOldestThatHolds"),
    "M014": UnitPair("src/dist/license_expression_test.cpp", "LicenseExpression.Refuses", "LicenseExpression.Accepts"),
    "M016": UnitPair("src/dist/version_change_test.cpp", "VersionChange.TakesVersionsOfOneRelease", "VersionChange.FollowsTheLocalSegmentOfFrameworks"),
    "M017": UnitPair("src/dist/unpacking_test.cpp", "Unpacking.WhatLeadsElsewhereIsRefused", "Unpacking.IsReadAsItWasWritten"),
    "E001": edit("NoElf", "Edit.RunPathBecomesRpathInPlace"),
    "E010": edit("StaticProgram", "Edit.ProgramsRunAfterwards"),
    "E011": edit("OtherMachine", "Edit.RunPathBecomesRpathInPlace"),
    "E012": edit("AlreadyBroken", "Edit.RunPathBecomesRpathInPlace"),
    "E013": edit("Prelinked", "Edit.RunPathBecomesRpathInPlace"),
    "E014": edit("Edit.AFileWithoutSectionHeadersStillGrows", "Edit.ALargeBssGetsANewSegment"),
    "E015": edit("EmptySoname", "Edit.AddsTagsToALibraryThatHasNone"),
    "E016": edit("NotNeeded", "Edit.AReplacedLibraryIsRenamedInTheVersionTable"),
    "E018": launcher("TooLong", "Launcher.HoldsTheLongestTarget"),
    "E019": launcher("FilledAlready", "Launcher.FillingTheSlotChangesNothingElse"),
    "E040": UnitPair("src/elf/tail_test.cpp", "Tail.WithoutSectionHeadersNothingBehindTheLoadedBytesIsKnown", "Tail.PaddingIsAllowed"),
    "E099": edit("Proof.CatchesWrongFacts", "Edit.RunPathBecomesRpathInPlace"),
    "E101": damage("TableOutsideLoads"),
    "E102": damage("StrayPhdr"),
    "E103": damage("OddAlignment"),
    "E104": damage("WritableFirstLoad"),
    "E105": damage("TableWhereOldKernelsMissIt"),
    "E106": damage("DynamicReadOnly"),
    "E107": damage("InitNotExecutable"),
    "E108": damage("NameOutsideStrings"),
    "E109": damage("VersionsOfARenamedLibrary"),
    "E110": damage("Verify.AnExecutableStackIsAWarning"),
    "E111": damage("RelroTooLong"),
    "E112": damage("SectionsOverlap"),
    "E113": damage("DeviceCodeMoved"),
    "E114": edit("Proof.CatchesBytesOutsideThePlan", "Edit.ALongerPathGrowsTheLastSegment"),
    "E115": UnitPair("src/elf/gaps_test.cpp", "Gaps.AppendedBytes", "Gaps.WhatLinkersWriteHasNone"),
    "G111": UnitPair("src/inspect/device_code_test.cpp", "Sketch.ReadsWhatItKeptAndSaysWhatItLacks", "DeviceCodeTest.MembersOfAWheelStoredAndDeflated"),
    "G116": UnitPair("src/gpu/thin_test.cpp", "Thin.BytesOutsideTheRemovedCodeAreProven", "Thin.DropsEntriesAndZerosTheirCode"),
    "Q118": UnitPair("src/inspect/machine_rules_test.cpp", "MachineRules.ASearchThatEndsAtItsBoundSaysSo", "MachineRules.Libraries"),
    "Q405": UnitPair("src/closure/closure_test.cpp", "Closure.AnEndlessSearchIsGivenUp", "Closure.ChoicesAreTakenBack"),
}
