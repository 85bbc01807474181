const MIN_CHARACTERS = 3;
const SPECIAL = new Set('\\^$.|?*+()[]{}');

/**
 * Returns the longest text, in lower case, that every match of a pattern has; undefined when there is none of at least
 * three characters. Whether a text has it is known much sooner than whether the pattern matches.
 */
export function literalIn(pattern: string): string | undefined {
  let longest = '';
  let run = '';
  const end = () => {
    if (run.length > longest.length) longest = run;
    run = '';
  };
  for (let at = 0; at < pattern.length; at += 1) {
    const character = pattern[at] ?? '';
    if (character === '|') return undefined;
    if (character === '(' || character === '[') {
      end();
      at = endOf(pattern, at);
    } else if (character === '\\' && /[^\p{L}\p{N}]/u.test(pattern[at + 1] ?? '')) {
      at += 1;
      run += pattern[at] ?? '';
    } else if (character === '?' || character === '*' || character === '{') {
      // The character before may be missing.
      run = run.slice(0, -1);
      end();
      if (character === '{') at = Math.max(at, pattern.indexOf('}', at));
    } else if (SPECIAL.has(character)) {
      end();
      if (character === '\\') at += 1;
    } else {
      run += character;
    }
  }
  end();
  return longest.length >= MIN_CHARACTERS && /^[\x20-\x7e]*$/.test(longest) ? longest.toLowerCase() : undefined;
}

/** Returns the index of the bracket that closes the one at `from`, or that of the last character. */
function endOf(pattern: string, from: number): number {
  let depth = 0;
  let isClass = false;
  for (let at = from; at < pattern.length; at += 1) {
    const character = pattern[at];
    if (character === '\\') at += 1;
    else if (isClass) isClass = character !== ']';
    else if (character === '[') isClass = true;
    else if (character === '(') depth += 1;
    else if (character === ')') depth -= 1;
    if (depth === 0 && !isClass && at > from) return at;
    if (depth === 0 && !isClass && character === ']') return at;
  }
  return pattern.length;
}
