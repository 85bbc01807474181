#!/bin/sh
# mathml-to-latex 1.5.0 writes a binomial coefficient as a fraction.
#
# Expected: a fraction without a line (`linethickness="0"`, MathML Core 3.3.2) is \binom or \genfrac.
# Seen: \frac, so "n over k" is read as n divided by k.
#
# Exits with 0 while this is so, with 1 when it has changed.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private":true,"type":"module"}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts mathml-to-latex@1.5.0
cat >probe.js <<'PROBE'
import { MathMLToLaTeX } from 'mathml-to-latex';

const math = '<math><mfrac linethickness="0"><mi>n</mi><mi>k</mi></mfrac></math>';
const tex = MathMLToLaTeX.convert(math);
console.log(tex);
process.exit(tex === '\\frac{n}{k}' ? 0 : 1);
PROBE
node probe.js
