#!/bin/sh
# @joplin/turndown-plugin-gfm 1.0.68 takes the head row of a table with a caption for a row of its body.
#
# Expected: the labels in `<th>` are the head of the Markdown table, with a caption as without.
# Seen: with `<caption>`, the table has an empty head, and the labels are its first row.
#
# Exits with 0 while this is so, with 1 when it has changed.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private":true,"type":"module"}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts turndown@7.2.5 @joplin/turndown-plugin-gfm@1.0.68
cat >probe.js <<'PROBE'
import { gfm } from '@joplin/turndown-plugin-gfm';
import Turndown from 'turndown';

const turndown = new Turndown();
turndown.use(gfm);
const headOf = (caption) =>
  turndown
    .turndown(`<table>${caption}<tr><th>Name</th></tr><tr><td>Ida</td></tr></table>`)
    .split('\n')
    .find((line) => line.startsWith('|'));
const heads = ['', '<caption>Ships</caption>'].map((caption) => headOf(caption)?.replace(/[| ]/g, ''));
console.log(JSON.stringify(heads));
process.exit(JSON.stringify(heads) === '["Name",""]' ? 0 : 1);
PROBE
node probe.js
