/** Takes the key out of a text. */
export type Redact = (text: string) => string;

/** Every spelling in which a key can turn up: as it is, in a path, in a query (either case of hex), in JSON. */
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
  // The longest first, else a short spelling would leave the tail of a longer one behind.
  const spellings = [...keySpellings(key)].sort((a, b) => b.length - a.length);
  const pattern = new RegExp(spellings.map((spelling) => spelling.replace(/[^\w]/g, '\\$&')).join('|'), 'g');
  return (text) => text.replace(pattern, '[key]');
}
