"""Loaded by a Python that is started with this directory in PYTHONPATH: requests to GitHub and to S3 that name their hosts go to the doubles of a test
(GITHUB_API_URL, AWS_ENDPOINT_URL), and every other host is out of reach. boto3 and aws read AWS_ENDPOINT_URL themselves."""

import os
import re
import urllib.error
import urllib.request

_open = urllib.request.urlopen


def _doubled(url: str) -> str:
    if url.startswith("https://api.github.com/"):
        return url.replace("https://api.github.com", os.environ["GITHUB_API_URL"], 1)
    if bucket := re.match(r"https://([\w-]+)\.s3[\w.-]*\.amazonaws\.com/", url):
        return f"{os.environ['AWS_ENDPOINT_URL']}/public/{bucket[1]}/{url[bucket.end():]}"
    if url.startswith("http://127.0.0.1:"):
        return url
    raise urllib.error.URLError(f"{url} is out of reach")


def urlopen(request, *words, **named):
    if isinstance(request, str):
        return _open(_doubled(request), *words, **named)
    request.full_url = _doubled(request.full_url)
    return _open(request, *words, **named)


urllib.request.urlopen = urlopen
