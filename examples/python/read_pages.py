"""Captures the pages named as arguments and prints what they say, as Markdown.

    python3 examples/python/read_pages.py https://example.com https://example.com/docs

Needs nothing but Python 3. CAPSTAN_URL is where the service is, CAPSTAN_API_KEY its key.
"""

import json
import os
import sys
import urllib.request

SERVICE = os.environ.get("CAPSTAN_URL", "http://127.0.0.1:8080")
KEY = os.environ.get("CAPSTAN_API_KEY")


def send(path, body=None, **headers):
    """Sends a request and returns the open answer; an answer that is not a success raises HTTPError."""
    if KEY:
        headers["Authorization"] = f"Bearer {KEY}"
    return urllib.request.urlopen(urllib.request.Request(SERVICE + path, data=body, headers=headers))


def captured(urls):
    """Captures the pages, and yields the outcome of each as soon as the service streams it."""
    lines = "".join(json.dumps({"url": url, "outputs": ["markdown"]}) + "\n" for url in urls)
    headers = {"Content-Type": "application/x-ndjson", "Accept": "application/x-ndjson"}
    with send("/batch", lines.encode(), **headers) as outcomes:
        yield from map(json.loads, outcomes)


def main(urls):
    for outcome in captured(urls):
        print(f"# {outcome['url']}\n")
        if outcome["error"]:
            print(f"{outcome['code']}: {outcome['error']}\n", file=sys.stderr)
            continue
        for output in outcome["result"]["outputs"]:
            print(send(output["path"]).read().decode())


if __name__ == "__main__":
    main(sys.argv[1:] or sys.exit(__doc__))
