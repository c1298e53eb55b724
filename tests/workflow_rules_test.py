"""Every rule of `quarry workflow lint`: one tree that has the defect and one, as near as can be, that has not."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from support.quarry import clean_environment, quarry, refused  # noqa: E402

COMMIT = "de0fac2e4500dabe0009e67214ff5f5447ce83dd"
CALLED = "on: {workflow_call: {inputs: {%s}}}\n"
STARTED = "on: {workflow_dispatch: {inputs: {%s}}}\n"
BOTH = "on: {workflow_call: {inputs: {%s}}, workflow_dispatch: {inputs: {%s}}}\n"
DISPATCH = f"""\
      - uses: benc-uk/workflow-dispatch@{COMMIT}
        with:
          workflow: target.yml
          inputs: '%s'
"""


def job(*steps: str, name: str = "j", more: str = "") -> str:
    lines = "".join(step if step.startswith("      - ") else f"      - run: {step}\n" for step in steps)
    return f"  {name}:\n    runs-on: x\n    timeout-minutes: 5\n{more}    steps:\n{lines}"


def jobs(*steps: str) -> str:
    return "jobs:\n" + job(*steps)


def checkout(**keys: str) -> str:
    return f"      - uses: actions/checkout@{COMMIT}\n" + ("        with: {" + ", ".join(f"{key}: '{value}'" for key, value in keys.items()) + "}\n" if keys else "")


def call(keys: str, head: str = "on: push\n", more: str = "") -> str:
    return f"{head}jobs:\n  c:\n    uses: ./.github/workflows/target.yml\n    with: {{{keys}}}\n{more}"


READS = jobs("echo ${{ inputs.level }}")
LEVEL = "level: {type: string, default: a}"
REF = "ref: {type: string, default: ''}"
READS_REF = jobs("echo ${{ inputs.ref }}")
GATE = "on: push\njobs:\n" + job("make", name="a") + job("make", name="b") + "%s" + job("echo ${{ toJSON(needs.a.result) }} ${{ toJSON(needs.b.result) }}", name="summary", more="    needs: [a, b]\n    if: always()\n")
MATRIX = "on: push\njobs:\n" + job("      - id: s\n        run: echo o=1\n", name="m", more="%s    outputs: {o: '${{ steps.s.outputs.o }}'}\n") + job("echo ${{ needs.m.outputs.o }}", name="r", more="    needs: m\n")
LEGS = "on: push\njobs:\n  m:\n    strategy: {matrix: {p: [1, 2]}}\n    uses: ./.github/workflows/target.yml\n    with: {level: '${{ %s }}'}\n" + job("echo ${{ needs.m.outputs.o }}", name="r", more="    needs: m\n")
WRITTEN = "on: {workflow_call: {inputs: {level: {type: string}}, outputs: {o: {value: '${{ jobs.j.outputs.o }}'}}}}\njobs:\n" + job("      - id: s\n        if: inputs.level != ''\n        run: echo \"o=${V}\" >> \"$GITHUB_OUTPUT\"\n        env: {V: \"${{ inputs.level }}\"}\n", more="    outputs: {o: '${{ steps.s.outputs.o }}'}\n")
OUTPUT = "on:\n  workflow_call:\n    outputs: {o: {value: '${{ jobs.j.outputs.o }}'}}\n" + jobs("make")
NAMED = (MATRIX % "    strategy: {matrix: {p: [o, q]}}\n").replace("run: echo o=1", "run: |\n          %s\n          echo \"%s\" >> $GITHUB_OUTPUT")
LARGE = "on: push\njobs:\n" + job("make", more=f"    strategy: {{matrix: {{p: {list(range(1, 18))}, q: {list(range(1, 17))}, exclude: %s}}}}\n")
EXCLUDED = "on: push\njobs:\n" + job("make", more="    strategy: {matrix: {p: [{n: 1, o: a}, {n: 2, o: b}], exclude: %s}}\n")
OLD, NEW = "gfx900,gfx906,gfx908", "gfx900,gfx906,gfx908,gfx90a"
PLAIN = "on: push\n" + jobs("make")
SUPPRESSED = PLAIN + '# quarry: ignore Y125 reason="x" until=2999-01-01\n'
ACTION = "name: a\ninputs: {level: {default: a}}\nruns: {using: %s, steps: []}\n"
USING = "name: a\nruns: {using: composite, steps: [{uses: ./%s}]}\n"
CURL = """      - run: |
          curl -X POST -H 'Accept: x' https://api.example.org/repos/${{ github.repository }}/actions/workflows/%s/dispatches -d '{"ref": "main", "inputs": {"level": "a"}}'
"""
SCRIPT = "      - uses: actions/github-script@v8\n        with:\n          script: |\n            await github.rest.actions.createWorkflowDispatch({owner, repo, workflow_id: %s, ref: 'main'})\n"
REQUEST = """\
      - uses: actions/github-script@v8
        with:
          script: |
            await %s/repos/${r}/actions/workflows/target.yml/dispatches`, {%s}) // or /none.yml
"""
ADDRESS = "https://api.github.com"
BROKEN = "on: push\njobs: {c: {uses: ./.github/workflows/target.yml}}\nx: [\n"

# code, files of the tree that has the defect, what differs in the one that has not; a name without a slash is a workflow
GUARDED = "on: {workflow_call: {inputs: {r: {type: string}}}}\njobs:\n" + job("make", more="%s") + "      - uses: actions/checkout@v4\n%s        with: {repository: ROCm/jax, ref: '${{ inputs.r }}'}\n"
ONE = "on: push\njobs:\n" + job("echo '%s'", more="    strategy: {matrix: {p: [1]}}\n")
EMPTY = "on:\n  workflow_call: {inputs: {level: {type: string%s}}}\n  workflow_dispatch: {inputs: {level: {type: string, default: dev}}}\n" + jobs("cp x s3://builds-${{ inputs.level }}-packages/")
CALLER = "on: push\njobs: {c: {uses: ./.github/workflows/target.yml%s}}\n"
ROWS: list[tuple[str, dict[str, str], dict[str, str]]] = [
    ("Y136", {"a.yml": GUARDED % ("", "")}, {"a.yml": GUARDED % ("", "        if: inputs.r != ''\n")}),
    ("Y136", {"a.yml": GUARDED % ("", "        if: inputs.r == ''\n")}, {"a.yml": GUARDED % ("    if: inputs.r\n", "")}),
    ("Y136", {"a.yml": GUARDED % ("", "        if: inputs.r != '' || always()\n")}, {"a.yml": GUARDED % ("", "        if: ${{ !!inputs.r && success() }}\n")}),
    ("Y138", {"a.yml": ONE % "${{ toJSON(matrix.p) }}"}, {"a.yml": ONE % "${{ toJSON( matrix ) }}"}),
    ("Y120", {"target.yml": EMPTY % "", "a.yml": CALLER % ""}, {"a.yml": CALLER % ", with: {level: a}"}),
    ("Y120", {"target.yml": EMPTY % "", "a.yml": CALLER % ""}, {"target.yml": EMPTY % ", default: ''"}),
    ("Y120", {"target.yml": EMPTY % "", "a.yml": CALLER % ""}, {"target.yml": (EMPTY % "").replace("s3://builds-${{ inputs.level }}-packages/", "--level=${{ inputs.level }}")}),
    ("Y110", {"target.yml": CALLED % "level: {type: boolean}" + READS, "a.yml": call("level: 'true'")}, {"a.yml": call("level: true")}),
    ("Y110", {"target.yml": STARTED % "level: {type: number}" + READS, "a.yml": "on: push\n" + jobs("gh workflow run target.yml --ref main -f level=high")}, {"a.yml": "on: push\n" + jobs("gh workflow run target.yml --ref main -f level=3")}),
    ("Y113", {"target.yml": STARTED % "" + READS, "a.yml": "on: push\n" + jobs("gh workflow run none.yml --ref main")}, {"a.yml": "on: push\n" + jobs("gh workflow run target.yml --ref main")}),
    ("Y113", {"target.yml": "on: push\n" + READS, "a.yml": "on: push\n" + jobs("gh workflow run target.yml --ref main")}, {"target.yml": "on: workflow_dispatch\n" + READS}),
    ("Y113", {"target.yml": "on: push\n" + READS, "a.yml": "on: push\n" + jobs("if true; then x=$(gh workflow run none.yml); fi")}, {"a.yml": "on: push\n" + jobs("gh workflow run 12345")}),
    ("Y115", {"target.yml": STARTED % "level: {type: string, required: true}" + READS, "a.yml": "on: push\n" + jobs("gh workflow run target.yml")}, {"a.yml": "on: push\n" + jobs('gh workflow run target.yml "${args[@]}"')}),
    ("Y117", {"target.yml": "on: workflow_dispatch\n" + READS, "a.yml": "on: push\n" + jobs("gh workflow run target.yml")}, {"a.yml": "on: push\n" + jobs('gh workflow run target.yml "${args[@]}"')}),
    ("Y117", {"target.yml": STARTED % REF + READS_REF, "a.yml": STARTED % REF + jobs("echo ${{ inputs.ref }}", DISPATCH % "{}")}, {"a.yml": STARTED % REF + jobs("echo ${{ inputs.ref }}", DISPATCH % "{}" + "          ref: ${{ inputs.ref || github.ref }}\n")}),
    ("Y117", {"target.yml": STARTED % LEVEL + jobs(checkout(), "echo ${{ inputs.level }}"), "a.yml": STARTED % REF + jobs(checkout(ref="${{ inputs.ref }}"), DISPATCH % "{}")}, {"a.yml": STARTED % REF + jobs(checkout(ref="${{ inputs.ref }}"), DISPATCH % "{}" + "          ref: ${{ inputs.ref }}\n")}),
    ("Y117", {"target.yml": STARTED % REF.replace("''", "main") + READS_REF, "a.yml": STARTED % REF + jobs("echo ${{ inputs.ref }}", DISPATCH % "{}" + "          ref: ${{ github.ref }}\n")}, {"target.yml": STARTED % REF + READS_REF}),
    ("Y140", {"a.yml": "on: push\n" + jobs('curl -fsSLo f.tgz "$URL" && tar xf f.tgz')}, {"a.yml": "on: push\n" + jobs('curl -fsSLo f.tgz "$URL" && echo "$WANTED  f.tgz" | sha256sum -c')}),
    ("Y140", {"a.yml": "on: push\n" + jobs("      - run: wget \"$URL\"\n        env: {URL: https://example.org/f}\n")}, {"a.yml": "on: push\n" + jobs("      - run: wget \"$URL\"\n        env: {URL: http://localhost:8000/f}\n")}),
    ("Y140", {"a.yml": "on: push\n" + jobs('curl -sL "$URL" | bash')}, {"a.yml": "on: push\n" + jobs('curl -sL -H "$AUTH" "$GITHUB_API_URL/repos" | bash')}),
    ("Y140", {"a.yml": "on: push\n" + jobs("curl -O ${BASE}/f.tgz")}, {"a.yml": "on: push\n" + jobs("curl -s ${BASE}/f.tgz | jq .")}),
    ("Y140", {"a.yml": "on: push\nenv: {BASE: https://example.org}\n" + jobs("      - run: |\n          U=${BASE}/f\n          curl -O $U\n")}, {"a.yml": "on: push\nenv: {BASE: https://example.org}\n" + jobs("      - run: |\n          U=${BASE}/f\n          curl -O $U\n          sha256sum -c f.sha256\n")}),
    ("Y140", {"a.yml": "on: push\n" + jobs("      - run: |\n          $url = 'https://example.org/f.exe'\n          iwr $url -OutFile f.exe\n        shell: pwsh\n")}, {"a.yml": "on: push\n" + jobs("      - run: |\n          $url = 'http://localhost/f.exe'\n          iwr $url -OutFile f.exe\n        shell: pwsh\n")}),
    ("Y140", {"a.yml": "on: push\n" + jobs("iwr -Uri $env:PLACE -OutFile f.exe")}, {"a.yml": "on: push\n" + jobs("iwr -Uri $env:PLACE -Method Post -OutFile f.exe")}),
    ("Y141", {"a.yml": "on: push\n" + jobs("git clone https://example.org/x.git && git -C x checkout main")}, {"a.yml": "on: push\n" + jobs(f"git clone https://example.org/x.git && git -C x checkout {COMMIT}")}),
    ("Y141", {"a.yml": "on: push\n" + jobs("git clone https://example.org/x.git && cd x && git switch --detach main")}, {"a.yml": "on: push\n" + jobs("git clone https://example.org/x.git && cd x && git checkout -b mine && git checkout $REVISION")}),
    ("Y141", {"a.yml": "on: push\n" + jobs('git clone --branch main --depth 1 "$URL" x')}, {"a.yml": "on: push\n" + jobs('git clone --depth 1 "$URL" main')}),
    ("Y141", {"a.yml": "on: push\n" + jobs("git -C other checkout main")}, {"a.yml": "on: push\n" + jobs(checkout(path="other"), "git -C other checkout main", "git -C . checkout main", "git checkout main")}),
    ("Y141", {"a.yml": "on: push\n" + jobs("      - run: git clone --branch $B https://example.org/x.git\n        env: {B: main}\n")}, {"a.yml": "on: push\n" + jobs("git clone --branch $B https://example.org/x.git")}),
    ("Y126", {"a.yml": "on: push\n" + jobs("      - run: git clone $U\n        env: {U: https://example.org/x.git}\n")}, {"a.yml": "on: push\n" + jobs("git clone $U", "git clone https://example.org/x.git && git -C x reset --hard v1")}),
    ("Y140", {"a.yml": "on: push\n" + jobs("      - run: |\n          curl -o f https://example.org/f\n")}, {"a.yml": "on: push\n" + jobs("      - run: |\n          cat <<EOF\n          curl -o f https://example.org/f\n          EOF\n")}),
    ("Y139", {"a.yml": "on: push\n" + jobs(checkout(), "bash no.sh")}, {"a.yml": "on: push\n" + jobs(checkout(), "      - run: |\n          cat <<EOF\n          bash no.sh\n          EOF\n")}),
    ("Y113", {"target.yml": STARTED % LEVEL + READS, "a.yml": "on: push\n" + jobs(DISPATCH % '{"level": "a",}')}, {"a.yml": "on: push\n" + jobs(DISPATCH % '{"level": "a"}')}),
    ("Y114", {"target.yml": STARTED % "level: {type: choice, options: [a, b]}" + READS, "a.yml": "on: push\n" + jobs(DISPATCH % '{"level": "c"}')}, {"a.yml": "on: push\n" + jobs(DISPATCH % '{"level": "b"}')}),
    ("Y115", {"target.yml": STARTED % "level: {type: string, required: true}" + READS, "a.yml": "on: push\n" + jobs(DISPATCH % "{}")}, {"a.yml": "on: push\n" + jobs(DISPATCH % '{"level": "c"}')}),
    ("Y116", {"target.yml": STARTED % LEVEL + READS, "a.yml": STARTED % LEVEL + jobs("echo ${{ inputs.level }}", DISPATCH % "{}")}, {"a.yml": STARTED % LEVEL + jobs("echo ${{ inputs.level }}", DISPATCH % '{"level": "${{ inputs.level }}"}')}),
    ("Y118", {"a.yml": BOTH % (LEVEL, "") + READS}, {"a.yml": BOTH % (LEVEL, LEVEL) + READS}),
    ("Y118", {"a.yml": BOTH % ("", LEVEL) + READS}, {"a.yml": BOTH % ("", LEVEL) + jobs("echo ${{ inputs.level || 'b' }}")}),
    ("Y119", {"a.yml": BOTH % ("level: {type: boolean}", "level: {type: string}") + READS}, {"a.yml": BOTH % ("level: {type: string}", "level: {type: choice, options: ['']}") + READS}),
    ("Y120", {"a.yml": BOTH % (LEVEL, "level: {type: string, default: b}") + READS}, {"a.yml": BOTH % (LEVEL, LEVEL) + READS}),
    ("Y120", {"a.yml": BOTH % ("level: {type: boolean}", "level: {type: boolean, default: true}") + READS}, {"a.yml": BOTH % ("level: {type: string, default: ''}", LEVEL) + READS}),
    ("Y121", {"a.yml": BOTH % ("level: {type: string, required: true}", "level: {type: string}") + READS}, {"a.yml": BOTH % ("level: {type: string, required: true}", "level: {type: string, required: true}") + READS}),
    ("Y122", {"a.yml": STARTED % LEVEL + jobs("make")}, {"a.yml": STARTED % LEVEL + READS}),
    ("Y122", {"target.yml": CALLED % "" + jobs("make"), "a.yml": call("", STARTED % LEVEL)}, {"target.yml": CALLED % "" + jobs("echo ${{ github.event.inputs.level }}")}),
    ("Y122", {"a.yml": "on: push\n" + jobs("      - uses: ./act\n"), "act/action.yml": ACTION % "composite"}, {"act/action.yml": ACTION % "node20"}),
    ("Y124", {"target.yml": OUTPUT, "a.yml": call("")}, {"b.yml": BROKEN}),
    ("Y122", {"target.yml": CALLED % "" + jobs("make"), "a.yml": call("", STARTED % LEVEL)}, {"target.yml": CALLED % "" + "a: [\n"}),
    ("Y113", {"target.yml": "on: push\n" + READS, "a.yml": "on: push\n" + jobs("gh workflow run target.yml --ref main")}, {"target.yml": "on: workflow_dispatch\nx: [\n" + READS}),
    ("Y101", {"a.yml": PLAIN + "x: [\n"}, {"a.yml": PLAIN + 'x: [\n  1,\n]\ny: "a\nb"\n'}),
    ("Y124", {"target.yml": OUTPUT, "a.yml": call("")}, {"a.yml": call("", more=job("echo ${{ needs.c.outputs.o }}", name="r", more="    needs: c\n"))}),
    ("Y126", {"a.yml": "on: push\n" + jobs(checkout(repository="ROCm/jax"))}, {"a.yml": "on: push\n" + jobs(checkout(repository="ROCm/jax", ref=COMMIT))}),
    ("Y127", {"a.yml": STARTED % LEVEL + "jobs:\n" + job(checkout(ref="${{ inputs.level }}"), name="one") + job(checkout(), name="two")}, {"a.yml": STARTED % LEVEL + "jobs:\n" + job(checkout(ref="${{ inputs.level }}"), name="one") + job(checkout(ref="${{ inputs.level }}"), name="two")}),
    ("Y128", {"a.yml": STARTED % LEVEL + READS, "b.yml": STARTED % "level: {type: string, default: b}" + READS}, {"b.yml": STARTED % LEVEL + READS}),
    ("Y129", {"target.yml": CALLED % "" + "permissions: {id-token: write}\n" + jobs("make"), "a.yml": "permissions: {contents: read}\n" + call("")}, {"a.yml": "permissions: {contents: read, id-token: write}\n" + call("")}),
    ("Y129", {"target.yml": CALLED % "" + "jobs:\n" + job("make", more="    permissions: {id-token: write}\n"), "a.yml": "permissions: read-all\n" + call("")}, {"a.yml": "permissions: write-all\n" + call("")}),
    ("Y130", {"a.yml": PLAIN, "./Dockerfile": f"ENV T={OLD}\n", "docker/jax.dockerfile": f"ENV T={NEW}\n"}, {"docker/jax.dockerfile": f"ENV T={OLD}\n"}),
    ("Y131", {"a.yml": PLAIN, "./Dockerfile": f"ENV T={OLD}\n"}, {"./Dockerfile": f"ENV T=${{T:-{OLD}}}\n"}),
    ("Y131", {"a.yml": PLAIN, "./Dockerfile": f"ARG T={OLD}\n"}, {"a.yml": "on: push\n" + jobs("docker build --build-arg T=$TARGETS .")}),
    ("Y131", {"a.yml": PLAIN, "docker/Dockerfile": f"ARG T={OLD}\n", "./build.sh": "docker build\n"}, {"./build.sh": "docker build --build-arg T=$1\n"}),
    ("Y130", {"a.yml": PLAIN, "./Dockerfile": "ARG T=gfx942\n", "./.bazelrc": f"build --repo_env=T={OLD}\n"}, {"./Dockerfile": "ARG U=gfx942\n"}),
    ("Y130", {"a.yml": "on: push\nenv: {T: 'gfx900,gfx906'}\n" + jobs("make"), "./Dockerfile": "ENV T gfx942;gfx950\n"}, {"./Dockerfile": "ENV T gfx906;gfx900\n"}),
    ("Y130", {"a.yml": f"on: push\nenv: {{T: '{OLD}'}}\n" + jobs("make"), "./Dockerfile": f"ARG T=\"{NEW}\"\n"}, {"./Dockerfile": "ARG T\nENV T=$T\n"}),
    ("Y131", {"a.yml": PLAIN, "./.bazelrc": f"build --repo_env=TF_ROCM_AMDGPU_TARGETS={OLD}\n"}, {"a.yml": "on: push\n" + jobs("bazel build --repo_env=TF_ROCM_AMDGPU_TARGETS=$FAMILY")}),
    ("Y145", {"a.yml": PLAIN, "./Dockerfile": "ARG ROCM_VERSION=7.0\n", "docker/jax.dockerfile": "FROM x\nENV A=b ROCM_VERSION=\"7.1\"\n"}, {"docker/jax.dockerfile": "FROM x\nENV ROCM_VERSION 7.0\n"}),
    ("Y145", {"a.yml": "on: push\nenv: {X_VERSION: 1.0}\n" + jobs("make"), "b.yml": "on: push\n" + jobs("      - run: make\n        env: {X_VERSION: 1.1}\n")}, {"b.yml": "on: push\n" + jobs("      - run: make\n        env: {X_VERSION: '${{ matrix.x }}', PYTHON_VERSION: 3.12}\n"), "c.yml": "on: push\nenv: {PYTHON_VERSION: 3.13}\n" + jobs("make")}),
    ("Y145", {"a.yml": PLAIN, "./Dockerfile": "ENV C_VERSION=1\nENV C_VERSION=2\n", "b/Dockerfile": "ENV C_VERSION=3\n"}, {"b/Dockerfile": "ENV C_VERSION=2\nENV C_VERSION=3\n# ENV C_VERSION=4\n"}),
    ("Y145", {"a.yml": PLAIN, "./Dockerfile": "ENV FOO=1 \\\n    # the last one\n\n    A_VERSION=7.0\n", "b/Dockerfile": "ENV FOO=1 \\\n  A_VERSION=6.4\n"}, {"b/Dockerfile": "# escape=`\nENV FOO=1 `\n  A_VERSION=7.0\n"}),
    ("Y145", {"a.yml": PLAIN, "./Dockerfile": "ARG A_VERSION=1.0\n", "b/Dockerfile": "ARG A_VERSION=2.0\n"}, {"./Dockerfile": "ARG VERSION=1.0\n", "b/Dockerfile": "ARG VERSION=2.0\n"}),
    ("Y145", {"a.yml": PLAIN, "./Dockerfile": "RUN x 1<<2\nENV A_VERSION=1\n", "b/Dockerfile": "RUN x <<A\nA\nENV A_VERSION=2\n"}, {"./Dockerfile": "RUN <<A bash -s <<-'B'\nA\nenv A_VERSION=1 make\n\tB\n", "b/Dockerfile": "RUN <<A\nenv A_VERSION=2 make\nA\nRUN x && \\\n  env A_VERSION=3 make\n"}),
    ("Y132", {"a.yml": MATRIX % "    strategy: {matrix: {p: [1, 2]}}\n"}, {"a.yml": MATRIX % ""}),
    ("Y133", {"a.yml": "on: push\njobs:\n" + job("make", more=f"    strategy: {{matrix: {{p: {list(range(257))}}}}}\n")}, {"a.yml": "on: push\njobs:\n" + job("make", more=f"    strategy: {{matrix: {{p: {list(range(256))}}}}}\n")}),
    ("Y133", {"a.yml": LARGE % "[{q: 17}]"}, {"a.yml": LARGE % "[{p: 17}]"}),
    ("Y133", {"a.yml": LARGE % "[{p: 17, q: 1}]"}, {"a.yml": LARGE % "'${{ fromJSON(vars.OUT) }}'"}),
    ("Y138", {"a.yml": EXCLUDED % "[{p: {n: 2}}]"}, {"a.yml": EXCLUDED % "[{p: {n: 3}}]"}),
    ("Y138", {"a.yml": EXCLUDED % "[{p: {n: 1, o: a}}]"}, {"a.yml": EXCLUDED % "[{p: {n: 1}, q: 1}]"}),
    ("Y118", {"a.yml": BOTH % (LEVEL, "") + "jobs:\n" + job("      - run: echo ${{ inputs.level }}\n        if: github.ref\n")}, {"a.yml": BOTH % (LEVEL, "") + "jobs:\n" + job("      - run: echo ${{ inputs.level }}\n        if: inputs.level != '' && github.ref\n")}),
    ("Y118", {"a.yml": BOTH % (LEVEL, "") + "jobs:\n" + job("      - run: echo ${{ inputs.level }}\n        if: inputs.level || github.ref\n")}, {"a.yml": BOTH % ("on: {type: boolean}, " + LEVEL, "") + "jobs:\n" + job("echo ${{ inputs.level }}", more="    if: ${{ inputs.on && !cancelled() }}\n")}),
    ("Y135", {"a.yml": GATE % job("make", name="forgotten")}, {"a.yml": GATE % ""}),
    ("Y139", {"a.yml": "on: push\n" + jobs(checkout(), "cd a && x=$(cd ../b && python3 no.py -v)"), "a/x.txt": "", "b/y.py": ""}, {"a.yml": "on: push\n" + jobs(checkout(), "cd a && x=$(cd ../b && python3 y.py -v) && python3 z.py"), "a/z.py": ""}),
    ("Y139", {"a.yml": "on: push\n" + jobs(checkout(), "pip install --requirement=no.txt")}, {"a.yml": "on: push\n" + jobs(checkout(), "pip install --requirement=r.txt"), "./r.txt": ""}),
    ("Y139", {"a.yml": "on: push\n" + jobs(checkout(), "python -m pip install -c no.txt x")}, {"a.yml": "on: push\n" + jobs(checkout(), "python -m pip install -c r.txt x"), "./r.txt": ""}),
    ("Y139", {"a.yml": "on: push\n" + jobs(checkout(), "python3 -m unittest tests/no.py"), "tests/a.py": ""}, {"a.yml": "on: push\n" + jobs(checkout(), "python3 -m unittest tests/a.py"), "tests/a.py": ""}),
    ("Y139", {"a.yml": "on: push\n" + jobs(checkout(), "pytest -v tests/none"), "tests/a_test.py": ""}, {"a.yml": "on: push\n" + jobs(checkout(), "pytest -v tests --junitxml tests/none -k tests/b > tests/c"), "tests/a_test.py": ""}),
    ("Y140", {"a.yml": "on: push\n" + jobs("curl -o f https://example.org/f && curl -o g https://example.org/g && echo 'x  g' | sha256sum -c")}, {"a.yml": "on: push\n" + jobs("curl -o f https://example.org/f && curl -o g https://example.org/g && sha256sum -c SHA256SUMS")}),
    ("Y140", {"a.yml": "on: push\n" + jobs("curl -fsSL https://example.org/f | sh; sha256sum -c SHA256SUMS")}, {"a.yml": "on: push\n" + jobs("curl -fsSLo f.tgz https://example.org/f.tgz; gpg --verify f.tgz.asc f.tgz")}),
    ("Y140", {"a.yml": "on: push\n" + jobs("python3 -m pip install https://example.org/a.whl")}, {"a.yml": "on: push\n" + jobs("python3 -m pip install https://example.org/a.whl#sha256=00 git+https://example.org/b")}),
    ("Y137", {"a.yml": "on: push\n" + jobs(checkout(repository="ROCm/jax", ref=COMMIT), checkout(repository="rocm/xla", ref=COMMIT))}, {"a.yml": "on: push\n" + jobs(checkout(repository="ROCm/jax", ref=COMMIT), checkout(repository="ROCm/xla", ref=COMMIT))}),
    ("Y140", {"a.yml": "on: push\n" + jobs("curl -o f https://example.org/f")}, {"a.yml": "on: push\n" + jobs("curl -o f https://example.org/f && sha256sum --check f.sha256")}),
    ("Y140", {"a.yml": "on: push\n" + jobs("curl https://example.org/f | bash")}, {"a.yml": "on: push\n" + jobs("curl https://example.org/f | grep ready")}),
    ("Y140", {"a.yml": "on: push\n" + jobs("curl -o f https://example.org/f && sha256sum f")}, {"a.yml": "on: push\n" + jobs("curl -o f https://example.org/f && [[ $(sha256sum f | cut -c1-64) == $WANTED ]]")}),
    ("Y140", {"a.yml": "on: push\n" + jobs("bash <(curl -fsSL https://example.org/f)")}, {"a.yml": "on: push\n" + jobs("diff <(curl -fsSL https://example.org/f) f")}),
    ("Y140", {"a.yml": "on: push\n" + jobs("iwr https://example.org/f.ps1 | iex")}, {"a.yml": "on: push\n" + jobs("iwr https://example.org/f.json | ConvertFrom-Json")}),
    ("Y141", {"a.yml": "on: push\n" + jobs(checkout(repository="ROCm/jax", ref="main"))}, {"a.yml": "on: push\n" + jobs(checkout(repository="ROCm/jax", ref=COMMIT))}),
    ("Y143", {"a.yml": "on: push\n" + jobs(checkout(), "      - uses: ./.github/actions/none\n"), ".github/actions/act/action.yml": ACTION % "composite"}, {"a.yml": "on: push\n" + jobs(checkout(), "      - uses: ./.github/actions/act\n")}),
    ("Y143", {"a.yml": call("").replace("target", "none")}, {"none.yml": CALLED % "" + jobs("make")}),
    ("Y143", {"a.yml": call("").replace(".github/workflows/target", "ci/target"), "target.yml": CALLED % "" + jobs("make"), "ci/target.yml": CALLED % "" + jobs("make")}, {"a.yml": call("")}),
    ("Y139", {"a.yml": "on: push\n" + jobs(checkout(), "bash no.sh")}, {"a.yml": "on: push\n" + jobs(checkout(), "      - uses: actions/download-artifact@v5\n", "bash no.sh")}),
    ("Y139", {"a.yml": "on: push\n" + jobs(checkout(), "      - uses: actions/cache@v5\n        with: {path: made}\n", "bash no.sh")}, {"a.yml": "on: push\n" + jobs(checkout(), "      - uses: actions/cache@v5\n        with: {path: no.sh}\n", "bash no.sh")}),
    ("Y139", {"a.yml": "on: push\n" + jobs(checkout(), "git checkout -b new && bash no.sh")}, {"a.yml": "on: push\n" + jobs(checkout(), "git checkout other && bash no.sh")}),
    ("Y139", {"a.yml": "on: push\n" + jobs(checkout(), "gh run list", "bash no.sh")}, {"a.yml": "on: push\n" + jobs(checkout(), "gh run download", "bash no.sh")}),
    ("Y139", {"a.yml": "on: push\n" + jobs(checkout(ref="${{ github.ref }}"), "bash no.sh")}, {"a.yml": "on: push\n" + jobs(checkout(ref="other"), "bash no.sh")}),
    ("Y132", {"a.yml": NAMED % ("", "o=$(date)")}, {"a.yml": NAMED % ("", "${{ matrix.p }}=1")}),
    ("Y132", {"a.yml": NAMED % ("v=${{ matrix.p }}; make $v=1", "o=$(date)")}, {"a.yml": NAMED % ("v=${{ matrix.p }}", "$v=1")}),
    ("Y132", {"a.yml": NAMED % ("v=2", "${v}=1")}, {"a.yml": NAMED % ("v=${{ matrix.p }}", "${v}=1")}),
    ("Y107", {"a.yml": SUPPRESSED}, {"a.yml": SUPPRESSED + "x: [\n"}),
    ("Y143", {"a.yml": "on: push\n" + jobs(checkout(), "      - uses: ./none\n")}, {"a.yml": "on: push\n" + jobs(checkout(), "git clone https://example.org/none none", "      - uses: ./none\n")}),
    ("Y143", {"a.yml": "on: push\n" + jobs(checkout(path="src"), "      - uses: ./src/none\n"), "src/none/action.yml": ACTION % "composite"}, {"a.yml": "on: push\n" + jobs(checkout(path="src"), "      - uses: ./src/none\n"), "none/Dockerfile": "FROM x\n"}),
    ("Y143", {"a.yml": "on: push\n" + jobs(checkout(), "      - uses: ./act\n"), "act/action.yml": USING % "none"}, {"act/action.yml": USING % "next", "next/action.yaml": ACTION % "composite"}),
    ("Y143", {"a.yml": "on: push\n" + jobs("make", "      - uses: ./act\n"), "act/action.yml": ACTION % "composite"}, {"a.yml": "on: push\n" + jobs("git clone https://example.org/x .", "      - uses: ./act\n")}),
    ("Y143", {"a.yml": "on: push\n" + jobs(checkout(path="src"), "      - uses: ./act\n"), "act/action.yml": ACTION % "composite"}, {"a.yml": "on: push\n" + jobs(checkout(), "      - uses: ./act\n")}),
    ("Y144", {"a.yml": "on: push\n" + jobs(checkout(), "      - uses: ./act\n"), "act/action.yml": USING % "next", "next/action.yml": USING % "act"}, {"next/action.yml": ACTION % "composite"}),
    ("Y144", {"target.yml": call("", CALLED % "")}, {"target.yml": CALLED % "" + jobs("make")}),
    ("Y133", {f"a{n}.yml": call("", CALLED % "").replace("target", f"a{n + 1}") for n in range(11)} | {"a11.yml": CALLED % "" + jobs("make")}, {"a9.yml": call("", CALLED % "").replace("target", "a0")}),
    ("Y132", {"a.yml": MATRIX % "    strategy: {matrix: {p: [1, 2]}}\n"}, {"a.yml": (MATRIX % "    strategy: {matrix: {p: [1, 2]}}\n").replace("steps.s.outputs.o }}", "github.sha }}-${{ toJSON(inputs.x) }}")}),
    ("Y132", {"a.yml": (MATRIX % "    strategy: {matrix: {p: [1, 2]}}\n").replace("steps.s.outputs.o", "toJSON(matrix.p)")}, {"a.yml": (MATRIX % "    strategy: {matrix: {p: [1, 2]}}\n").replace("${{ steps.s.outputs.o }}", "on")}),
    ("Y132", {"a.yml": LEGS % "matrix.p", "target.yml": WRITTEN}, {"a.yml": LEGS % "github.sha"}),
    ("Y132", {"a.yml": LEGS % "github.sha", "target.yml": WRITTEN.replace("${V}", "$(date)")}, {"target.yml": WRITTEN}),
    ("Y132", {"a.yml": LEGS % "github.sha", "target.yml": WRITTEN.replace("inputs.level }}\"", "inputs.level }}-${{ matrix.q }}\"")}, {"target.yml": WRITTEN}),
    ("Y118", {"a.yml": BOTH % (LEVEL, "") + jobs("echo ${{ github.ref && inputs.level }}")}, {"a.yml": BOTH % (LEVEL, "") + jobs("echo ${{ inputs.level != '' && inputs.level }}")}),
    ("Y118", {"a.yml": BOTH % (LEVEL, "") + READS}, {"a.yml": BOTH % ("level: {type: string, default: ''}", "") + READS}),
    ("Y118", {"a.yml": BOTH % (LEVEL, "") + "jobs:\n" + job("make", name="a", more="    if: inputs.level != ''\n") + job("echo ${{ inputs.level }}", name="b", more="    needs: a\n    if: always()\n")}, {"a.yml": BOTH % (LEVEL, "") + "jobs:\n" + job("make", name="a", more="    if: inputs.level != ''\n") + job("echo ${{ inputs.level }}", name="b", more="    needs: a\n")}),
    ("Y113", {"target.yml": "on: push\n" + READS, "a.yml": "on: push\n" + jobs(CURL % "target.yml")}, {"target.yml": "on: workflow_dispatch\n" + READS}),
    ("Y112", {"target.yml": STARTED % LEVEL + READS, "a.yml": "on: push\n" + jobs((CURL % "target.yml").replace("level", "depth"))}, {"a.yml": "on: push\n" + jobs(CURL % "target.yml")}),
    ("Y117", {"target.yml": "on: workflow_dispatch\n" + READS, "a.yml": "on: push\n" + jobs((SCRIPT % "'target.yml'").replace(", ref: 'main'", ""))}, {"a.yml": "on: push\n" + jobs((SCRIPT % "'target.yml'").replace(", ref: 'main'", ", ...more"))}),
    ("Y117", {"target.yml": STARTED % REF + READS_REF, "a.yml": STARTED % REF + jobs("echo ${{ inputs.ref }}", (SCRIPT % "'target.yml'").replace("ref: 'main'", "ref: ''"))}, {"a.yml": STARTED % REF + jobs("echo ${{ inputs.ref }}", (SCRIPT % "'target.yml'").replace("'main'", "context.ref"))}),
    ("Y117", {"target.yml": "on: workflow_dispatch\n" + READS, "a.yml": "on: push\n" + jobs("gh api repos/$R/actions/workflows/target.yml/dispatches")}, {"a.yml": "on: push\n" + jobs("gh api repos/$R/actions/workflows/target.yml/dispatches --input body.json")}),
    ("Y117", {"target.yml": "on: workflow_dispatch\n" + READS, "a.yml": "on: push\n" + jobs("gh api repos/$R/actions/workflows/target.yml/dispatches")}, {"a.yml": "on: push\n" + jobs("gh api repos/$R/actions/workflows/target.yml/dispatches --input=body.json")}),
    ("Y117", {"target.yml": "on: workflow_dispatch\n" + READS, "a.yml": "on: push\n" + jobs((CURL % "target.yml").replace('"ref": "main", ', ""))}, {"target.yml": STARTED % LEVEL + READS, "a.yml": "on: push\n" + jobs(CURL % "target.yml")}),
    ("Y115", {"target.yml": STARTED % "level: {type: string, required: true}" + READS, "a.yml": "on: push\n" + jobs(SCRIPT % "'target.yml'")}, {"a.yml": "on: push\n" + jobs((SCRIPT % "'target.yml'").replace("ref:", "inputs: {level: x}, ref:"))}),
    ("Y115", {"target.yml": STARTED % "level: {type: string, required: true}" + READS, "a.yml": "on: push\n" + jobs(REQUEST % ("github.request(`POST ", "ref: 'main'"))}, {"a.yml": "on: push\n" + jobs(REQUEST % (f"fetch(`{ADDRESS}", "method: 'POST', body: JSON.stringify({ref: 'main', inputs: {level: 'a'}})"))}),
    ("Y117", {"target.yml": STARTED % LEVEL + READS, "a.yml": "on: push\n" + jobs(REQUEST % ("github.request(`POST ", "inputs: {level: 'a'}"))}, {"a.yml": "on: push\n" + jobs(REQUEST % (f"fetch(`{ADDRESS}", "method: 'POST', body"), REQUEST % ("github.request(`POST ", "data: {ref: 'main'}"))}),
    ("Y113", {"target.yml": "on: workflow_dispatch\n" + READS, "a.yml": "on: push\n" + jobs((SCRIPT % "'none.yml'").replace(", ref: 'main'", ", // the build"))}, {"a.yml": "on: push\n" + jobs((SCRIPT % "'none.yml'").replace("await", "x() // was")), "b.yml": "on: push\n" + jobs((SCRIPT % "'none.yml'").replace("await", "/*").replace("})", "}) */"))}),
    ("Y112", {"target.yml": STARTED % LEVEL + READS, "a.yml": "on: push\n" + jobs((SCRIPT % "'target.yml'").replace("ref:", "inputs: {'lever': x}, ref:"))}, {"a.yml": "on: push\n" + jobs((SCRIPT % "'target.yml'").replace("ref:", "inputs: {'level': x}, ref:"))}),
    ("Y113", {"target.yml": "on: workflow_dispatch\n" + READS, "a.yml": "on: push\n" + jobs(SCRIPT % "'none.yml'")}, {"a.yml": "on: push\n" + jobs(SCRIPT % "'target.yml'", SCRIPT % "name")}),
    ("Y126", {"a.yml": "on: push\n" + jobs("git clone --depth 1 https://example.org/x.git")}, {"a.yml": "on: push\n" + jobs("git clone https://example.org/x.git", f"cd x && git checkout {COMMIT}")}),
    ("Y126", {"a.yml": "on: push\n" + jobs("git checkout main", "sudo git -c a=b clone git@example.org:x/y")}, {"a.yml": "on: push\n" + jobs("git clone https://example.org/$NAME.git", "git clone -b main https://example.org/x.git", "git fetch https://example.org/z.git")}),
    ("Y141", {"a.yml": "on: push\n" + jobs("git clone -b main https://example.org/x.git")}, {"a.yml": "on: push\n" + jobs("git clone --branch=$BRANCH https://example.org/x.git")}),
    ("Y140", {"a.yml": "on: push\n" + jobs("gh release download v1 -R other/tool -p tool.tar.gz")}, {"a.yml": "on: push\n" + jobs("gh release download v1 -R other/tool -p tool.tar.gz && sha256sum -c tool.sha256", "gh release download v1 -p mine.tar.gz")}),
    ("Y131", {"a.yml": PLAIN, "./targets.lst": "gfx900\ngfx906\n# more\n"  "gfx908\ngfx90a\ngfx942\n"}, {"./targets.lst": "gfx900\ngfx906\n\ngfx908\ngfx90a\n"}),
    ("Y130", {"a.yml": PLAIN, "./Dockerfile": "ENV T=\"\\\n  gfx900;\\\n  gfx906;\\\n  gfx908\"\n", "docker/jax.dockerfile": f"ENV T={NEW}\n"}, {"docker/jax.dockerfile": f"ENV T={OLD}\n"}),
    ("Y130", {"a.yml": "on: push\n" + jobs("      - run: |\n          gfx900\n          gfx906\n          gfx908\n"), "./Dockerfile": f"ENV T={NEW}\n"}, {"./Dockerfile": f"ENV T={OLD}\n"}),
]  # fmt: skip


def codes(directory: Path, files: dict[str, str], *more: str | Path) -> set[str]:
    for name, text in files.items():
        path = directory / (name if "/" in name else f".github/workflows/{name}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    report = quarry("workflow", "lint", directory, "--json", *more).json
    return {finding["code"] for finding in report["findings"]}


@pytest.mark.parametrize(("code", "bad", "change"), [pytest.param(*row, id=f"{row[0]}-{number}") for number, row in enumerate(ROWS)])
def test_rules(tmp_path, code, bad, change):
    assert code in codes(tmp_path / "bad", bad)
    assert code not in codes(tmp_path / "good", bad | change)


def test_the_trees_are_no_broken_files(tmp_path):
    for number, (_, bad, change) in enumerate(ROWS):
        if any("x: [\n" in text or "a: [\n" in text for text in change.values()):
            continue
        assert not codes(tmp_path / str(number), bad | change) & {"Y101", "Y102", "Y103", "Y104"}


def report_of(directory: Path, files: dict[str, str], *more: str) -> dict:
    codes(directory, files)
    return quarry("workflow", "lint", directory, "--json", *more).json


def test_a_gate_for_required_jobs_is_a_note(tmp_path):
    gate = GATE % job("make", name="forgotten")
    for number, (text, severity) in enumerate({gate: "warning", gate.replace("  summary:", "  # What branch protection requires: required jobs.\n  summary:"): "note", gate.replace("summary", "required-checks"): "note"}.items()):
        found = report_of(tmp_path / str(number), {"a.yml": text})["findings"]
        assert [one["severity"] for one in found if one["code"] == "Y135"] == [severity]


def test_spellings_of_an_owner_and_their_repair(tmp_path):
    usual = "".join(checkout(repository=f"ROCm/r{number}", ref=COMMIT) for number in range(5))
    lines = f"      - uses: actions/checkout@{COMMIT}\n        with:\n          repository: rocm/xla\n          ref: {COMMIT}\n"
    flow = f"      - uses: actions/checkout@{COMMIT}\n        with: {{path: rocm/, repository: rocm/xla, ref: {COMMIT}}}\n"
    default = "on: {workflow_dispatch: {inputs: {repo: {\n  type: string,\n  default: rocm/xla}}}}\n"
    tree = {"a.yml": "on: push\n" + jobs(usual, lines), "b.yml": "on: push\n" + jobs(flow), "c.yml": default + jobs("echo ${{ inputs.repo }}")}
    report = report_of(tmp_path / "fix", tree, "--fix")
    assert sorted((Path(one["file"]).name, one["line"]) for one in report["fixed"]) == [("a.yml", 19), ("b.yml", 8)]
    text = (tmp_path / "fix/.github/workflows/b.yml").read_text()
    assert "path: rocm/, repository: ROCm/xla" in text
    # A script may make the key of a bucket of an input, and buckets mind the case: that is for people.
    assert [Path(one["file"]).name for one in report["findings"] if one["code"] == "Y137"] == ["c.yml"]
    rare = "".join(checkout(repository=name, ref=COMMIT) for name in ("rocm/a", "rocm/b", "RocM/c"))
    listed = report_of(tmp_path / "all", {"a.yml": "on: push\n" + jobs(usual, rare)})["findings"]
    assert len([one for one in listed if one["code"] == "Y137"]) == 3  # each place that --fix edits
    tie = report_of(tmp_path / "tie", {"a.yml": "on: push\n" + jobs(checkout(repository="ROCm/jax", ref=COMMIT), checkout(repository="rocm/xla", ref=COMMIT))})
    assert [one["message"] for one in tie["findings"] if one["code"] == "Y137"] == ["owner `rocm` is spelled `ROCm` in another place"]


def test_the_difference_of_the_first_copy(tmp_path):
    tree = {"a.yml": PLAIN, "a/Dockerfile": f"ENV T={OLD}\n", "b/Dockerfile": f"ENV T={NEW}\n", "c/Dockerfile": f"ENV T={OLD},gfx1100\n"}
    message = next(one["message"] for one in report_of(tmp_path, tree)["findings"] if one["code"] == "Y130")
    assert "b/Dockerfile:1" in message and message.endswith("the first differs in gfx90a")


def test_the_repair_of_a_forgotten_input_keeps_the_default_of_other_events(tmp_path):
    target = {kind: CALLED % f"level: {{type: {kind}, default: {value}}}" + READS for kind, value in {"string": "it's", "boolean": "true", "number": "3"}.items()}
    person = STARTED % LEVEL + jobs("echo ${{ inputs.level }}") + "  c:\n    uses: ./.github/workflows/target.yml\n"
    push = person.replace("on: {", "on: {push: {}, ")
    for kind, caller, fix in (("string", person, "${{ inputs.level }}`"), ("string", push, "${{ inputs.level || 'it''s' }}`"), ("number", push, "${{ inputs.level || 3 }}`"), ("boolean", push, "${{ github.event_name != 'workflow_dispatch' || inputs.level }}`")):
        found = [one for one in report_of(tmp_path / f"{kind}-{caller == push}", {"a.yml": caller, "target.yml": target[kind]})["findings"] if one["code"] == "Y111"]
        assert len(found) == 1 and f"pass `level: {fix}" in found[0]["fix"], found


def test_an_input_may_be_left_out_if_its_description_says_what_that_means(tmp_path):
    caller = STARTED % LEVEL + jobs("echo ${{ inputs.level }}") + "  c:\n    uses: ./.github/workflows/target.yml\n"
    for words, severity in (("Leave empty for all levels", "note"), ("The level", "warning")):
        target = CALLED % f"level: {{type: string, default: '', description: {words}}}" + READS
        found = [one for one in report_of(tmp_path / severity, {"a.yml": caller, "target.yml": target})["findings"] if one["code"] == "Y111"]
        assert [one["severity"] for one in found] == [severity]


def test_findings_in_build_files_can_be_accepted(tmp_path):
    accept = '# quarry: ignore Y131 reason="one family alone" until=2999-12-31\n'
    for name, lines in ((".bazelrc", f"build --repo_env=T={OLD}\n"), ("targets.lst", "gfx900\ngfx906\ngfx908\ngfx90a\ngfx942\n")):
        assert "Y131" in codes(tmp_path / f"{name}-open", {"a.yml": PLAIN, f"./{name}": lines})
        report = report_of(tmp_path / name, {"a.yml": PLAIN, f"./{name}": accept + lines})
        assert not report["findings"] and [one["code"] for one in report["suppressed"]] == ["Y131"]
        unneeded = accept.replace("Y131", "Y130") + lines
        assert "Y107" in codes(tmp_path / f"{name}-other", {"a.yml": PLAIN, f"./{name}": unneeded})


def test_findings_of_another_repository_are_shown_in_this_one(tmp_path):
    """Code scanning takes files of this repository alone."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "Dockerfile").write_text(f"ENV T={OLD}\n")
    words = ("--with", f"Owner/Other={other}")
    assert [one["file"] for one in report_of(tmp_path / "tree", {"a.yml": PLAIN}, *words)["findings"] if one["code"] == "Y131"] == ["Owner/Other:Dockerfile"]
    log = json.loads(quarry("workflow", "lint", tmp_path / "tree", *words, "--format", "sarif").out)
    results = [one for one in log["runs"][0]["results"] if one["ruleId"] == "Y131"]
    assert [one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for one in results] == [".github/workflows/a.yml"]
    assert results[0]["message"]["text"].startswith("Owner/Other:Dockerfile:1")


def test_a_matrix_of_more_jobs_than_are_counted(tmp_path):
    columns = ", ".join(f"c{n}: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]" for n in range(7))
    caller = "on: push\njobs:\n" + job("make", more=f"    strategy: {{matrix: {{{columns}}}}}\n")
    found = [one for one in report_of(tmp_path, {"a.yml": caller})["findings"] if one["code"] == "Y133"]
    assert len(found) == 1 and "makes more than 1000000 jobs" in found[0]["message"]


def test_what_is_no_workflow_file(tmp_path):
    """A directory is not one, a file without permission is none that GitHub refuses, and a code must exist."""
    files = {"a.yml": PLAIN + "# quarry: ignore Y999 reason=\"x\" until=2999-01-01\n", "dir.yml/note.txt": ""}
    (tmp_path / ".github/workflows/dir.yml").mkdir(parents=True)
    assert codes(tmp_path, {"a.yml": files["a.yml"], ".github/workflows/dir.yml/note.txt": "x"}) == {"Y105"}
    subprocess.run("git init -q . && git add -A && git -c user.name=a -c user.email=b commit -qm c", shell=True, cwd=tmp_path, check=True)
    for part in ("", ".github/workflows"):
        assert quarry("workflow", "lint", tmp_path / part, "--baseline", "HEAD", "--json").json["known"] == 1


def test_a_circle_is_shown_once_with_its_way(tmp_path):
    chain = {name: call("", CALLED % "").replace("target", follower) for name, follower in {"a.yml": "b", "b.yml": "c", "c.yml": "b"}.items()}
    found = [one for one in report_of(tmp_path, chain)["findings"] if one["code"] in ("Y144", "Y133")]
    way = "b.yml -> .github/workflows/c.yml -> .github/workflows/b.yml"
    assert len(found) == 1 and found[0]["code"] == "Y144" and found[0]["message"].endswith(way), found


def test_dispatches_behind_the_bound_are_counted(tmp_path):
    script = SCRIPT % "'none.yml'"
    report = report_of(tmp_path, {"a.yml": "on: push\n" + jobs(script.replace("await", "a();" + "x.createWorkflowDispatch({workflow_id: 'none.yml', ref: 'a'});" * 299))})
    assert len([one for one in report["findings"] if one["code"] == "Y113"]) == 256
    assert report["not_looked_at"] == {"dispatches in JavaScript beyond the bounds of one file": 44}


def test_many_values_of_a_version(tmp_path):
    """All pairs of files were compared, value by value."""

    def dockerfiles(count: int, values: int) -> dict[str, str]:
        return {f"{n}/Dockerfile": "".join(f"ENV A_VERSION={n}.{value}\n" for value in range(values)) for n in range(count)}

    usual = report_of(tmp_path / "usual", {"a.yml": PLAIN} | dockerfiles(3, 16))
    assert [one["code"] for one in usual["findings"]] == ["Y145"] and usual["not_looked_at"] == {}
    for number, many in enumerate((dockerfiles(3, 17), dockerfiles(300, 1))):
        report = report_of(tmp_path / str(number), {"a.yml": PLAIN} | many)
        assert report["findings"] == [] and report["not_looked_at"] == {"versions with more values than are compared": 1}


@pytest.mark.parametrize(("comment", "expected"), [("Y145 reason='x' until=2999-01-01", set()), ("Y145 reason='x' until=2001-01-01", {"Y106", "Y145"}), ("Y145 until=2999-01-01", {"Y105", "Y145"}), ("Y130 reason='x' until=2999-01-01", {"Y107", "Y145"})])
def test_suppressions_in_dockerfiles(tmp_path, comment, expected):
    comment = "# quarry: ignore " + comment.replace("'", '"')
    old = f"FROM x\nENV A=1 \\\n  {comment}\n  A_VERSION=1\n"
    tree = {"a.yml": PLAIN, "a/Dockerfile": old} | {f"{name}/Dockerfile": "ARG A_VERSION=2\n" for name in "bc"}
    assert codes(tmp_path, tree, "--fix") == expected
    assert (tmp_path / "a/Dockerfile").read_text() == old


def test_a_version_in_a_workflow_is_accepted(tmp_path):
    accepted = '# quarry: ignore Y145 reason="x" until=2999-01-01\n'
    assert codes(tmp_path, {"a.yml": f"on: push\nenv:\n  {accepted}  A_VERSION: 1\n" + jobs("make"), "b/Dockerfile": "ARG A_VERSION=2\n", "c/Dockerfile": "ARG A_VERSION=2\n"}) == set()


def test_an_address_that_a_script_puts_together(tmp_path):
    script = (REQUEST % ("github.request(`POST ", "ref: 'main'")).replace("${r}", "` + r + `")
    assert report_of(tmp_path, {"a.yml": "on: push\n" + jobs(script)})["not_looked_at"] == {"dispatches whose target an expression makes": 1}


def test_each_job_that_lacks_a_permission_is_told(tmp_path):
    use = "    uses: ./.github/workflows/target.yml\n"
    caller = f"on: push\npermissions: {{}}\njobs:\n  a:\n{use}  b:\n{use}  c:\n    permissions: write-all\n{use}"
    found = report_of(tmp_path, {"target.yml": CALLED % "" + "permissions: {id-token: write}\n" + jobs("make"), "a.yml": caller})["findings"]
    assert [one["line"] for one in found if one["code"] == "Y129"] == [5, 7]


def test_a_directory_of_workflows_inside_of_its_repository(tmp_path):
    """Actions, scripts and workflows are looked for from the repository's root."""
    tree = {"a.yml": "on: push\n" + jobs(checkout(), "      - uses: ./act\n", "      - uses: ./none\n", "bash build.sh", "bash no.sh"), "act/action.yml": ACTION % "composite", "./build.sh": ""}
    codes(tmp_path, tree)
    found = quarry("workflow", "lint", tmp_path / ".github/workflows", "--json").json["findings"]
    assert [one["code"] for one in found if one["code"] in ("Y139", "Y143")] == ["Y143", "Y139"], found
    assert [one["place"].split(":")[0] for one in found if one["code"] == "Y122"] == ["../../act/action.yml"], found


def test_a_dispatch_to_this_repository_is_drawn(tmp_path):
    tree = {"target.yml": "on: workflow_dispatch\n" + READS, "a.yml": "on: push\n" + jobs("gh workflow run target.yml --ref a -R ${{ github.repository }}", "gh workflow run none.yml -R $OTHER", "gh workflow run 12345")}
    codes(tmp_path, tree)
    graph = quarry("workflow", "graph", tmp_path, "--json").json
    assert [(one["name"], one["missing"]) for one in graph["nodes"]] == [("a.yml", False), ("target.yml", False)] and graph["unknown"] == 2


def test_a_dispatch_by_gh_is_told_in_words_of_gh(tmp_path):
    ref = "ref: {type: string, default: a}"
    caller = STARTED % ref + jobs("echo ${{ inputs.ref }}", "gh workflow run target.yml --ref main", "gh workflow run 12345")
    report = report_of(tmp_path, {"target.yml": STARTED % ref + jobs("echo ${{ inputs.ref }}"), "a.yml": caller})
    assert [one["fix"] for one in report["findings"] if one["code"] == "Y117"] == ["add `-f 'ref=${{ inputs.ref }}'`"]
    assert report["not_looked_at"] == {"dispatches of workflows by their number": 1}


def test_workflows_of_other_repositories_are_named(tmp_path):
    report = report_of(tmp_path, {"a.yml": "on: push\njobs: {a: {uses: o/r/.github/workflows/x.yml@main}}\n"})
    assert report["not_looked_at"] == {"calls of o/r/.github/workflows/x.yml@main in another repository": 1}


def test_what_a_file_that_cannot_be_read_may_use_is_counted(tmp_path):
    tree = {"target.yml": OUTPUT, "a.yml": call(""), "b.yml": BROKEN}
    assert report_of(tmp_path, tree)["not_looked_at"] == {"outputs that a file which cannot be read may use": 1}


def test_another_repository_as_a_revision_and_as_a_bare_clone(tmp_path):
    other = tmp_path / "jax"
    (other / "tests").mkdir(parents=True)

    def git(*words: str | Path):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *words], check=True, env=clean_environment(), capture_output=True)

    git("init", "-q", other)
    for name in ("old", "new"):
        (other / "tests" / f"{name}_test.py").touch()
        git("-C", other, "add", ".")
        git("-C", other, "commit", "-qm", name)
        git("-C", other, "tag", name)
    git("clone", "-q", "--bare", other, tmp_path / "bare.git")
    tree = {"a.yml": "on: push\n" + jobs(checkout(repository="ROCm/jax", ref=COMMIT, path="jax"), "pytest jax/tests/new_test.py")}
    for place, found in {f"{other}@old": True, f"{other}@new": False, f"{tmp_path}/bare.git": False, f"{tmp_path}/bare.git@old": True, f"{other}": False}.items():
        assert ("Y139" in codes(tmp_path / "tree", tree, "--with", f"ROCm/jax={place}")) == found, place
    refused("Y151", 3, "workflow", "lint", tmp_path / "tree", "--with", f"ROCm/jax={other}@none")
    refused("Y150", 3, "workflow", "lint", tmp_path / "tree", "--with", f"ROCm/jax={tmp_path}/nowhere")


def test_calls_that_multiply_along_paths_end(tmp_path):
    """30 jobs that call the file itself, and 12 files that call the next one 30 times: 30^10 paths, 13 files."""
    many = "".join("  c%d:\n    uses: ./.github/workflows/%%s\n    with: {level: '${{ inputs.level }}'}\n" % number for number in range(30))
    head = BOTH % (LEVEL, LEVEL) + "jobs:\n"
    tree = {f"f{number}.yml": head + many % ((f"f{number + 1}.yml",) * 30) for number in range(11)}
    tree |= {"f11.yml": BOTH % (LEVEL, LEVEL) + READS, "self.yml": head + many % (("self.yml",) * 30)}
    assert "Y133" in codes(tmp_path, tree)
