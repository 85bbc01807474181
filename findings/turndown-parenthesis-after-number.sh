#!/bin/sh
# turndown 7.2.5 escapes `1. x` at the start of a paragraph, but not `1) x`, which makes a list as well.
#
# Expected: a paragraph stays one when its Markdown is rendered (CommonMark 0.31.2, 5.2: an ordered list marker is a
# number that `.` or `)` follows).
# Seen: `<p>1) Call us</p>` becomes `1) Call us`, and commonmark 0.31.2 renders that as `<ol>`.
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

const rendered = (html) => new HtmlRenderer().render(new Parser().parse(new Turndown().turndown(html)));
const isList = ['<p>1. Call us</p>', '<p>1) Call us</p>'].map((html) => rendered(html).startsWith('<ol>'));
console.log(JSON.stringify(isList));
process.exit(JSON.stringify(isList) === '[false,true]' ? 0 : 1);
PROBE
node probe.js
