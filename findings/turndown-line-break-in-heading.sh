#!/bin/sh
# turndown 7.2.5 writes a line break in a heading as a line break of Markdown, which ends the heading.
#
# Expected: both lines of `<h2>First<br>second</h2>` are in the heading that commonmark 0.31.2 renders.
# Seen: the Markdown is `## First`, two spaces and a new line, so `second` is a paragraph below the heading.
#
# Exits with 0 while this is so, with 1 when it has changed.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private":true,"type":"module"}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts turndown@7.2.5 commonmark@0.31.2
cat >probe.js <<'PROBE'
import { HtmlRenderer, Parser } from 'commonmark';
import Turndown from 'turndown';

const markdown = new Turndown({ headingStyle: 'atx' }).turndown('<h2>First<br>second</h2>');
const html = new HtmlRenderer().render(new Parser().parse(markdown));
console.log(JSON.stringify(markdown), JSON.stringify(html));
process.exit(html === '<h2>First</h2>\n<p>second</p>\n' ? 0 : 1);
PROBE
node probe.js
