/** Removes the key from a text. */
export type Redact = (text: string) => string;

/**
 * All spellings in which a key can appear: verbatim, in a path, in a query (with either case of hex digits), in JSON.
 */
export function keySpellings(key: string): readonly string[] {
  const encoded = [
    encodeURIComponent(key),
    encodeURI(key),
    new URLSearchParams({ k: key }).toString().slice('k='.length),
  ];
  const inLowerHex = encoded.map((spelling) => spelling.replace(/%\w\w/g, (hex) => hex.toLowerCase()));
  return [...new Set([key, ...encoded, ...inLowerHex, JSON.stringify(key).slice(1, -1)])];
}

export function redactor(key: string | null): Redact {
  if (key === null) return (text) => text;
  // Longest first: replacing a short spelling first would leave the rest of a longer one.
  const spellings = [...keySpellings(key)].sort((a, b) => b.length - a.length);
  const pattern = new RegExp(spellings.map((spelling) => spelling.replace(/[^\w]/g, '\\$&')).join('|'), 'g');
  return (text) => text.replace(pattern, '[key]');
}
