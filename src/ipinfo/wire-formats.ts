import type { Format } from './names.ts';

/** A flat record as received, with unchecked values. */
export type WireRecord = Readonly<Record<string, unknown>>;

/** Parses a body in one of the five formats; null when it is not a record in that format. */
export function readRecord(format: Format, text: string): WireRecord | null {
  switch (format) {
    case 'json':
      return readJson(text);
    case 'jsonp':
      return readJsonp(text);
    case 'csv':
      return readCsv(text);
    case 'yaml':
      return readYaml(text);
    case 'xml':
      return readXml(text);
  }
}

const PYTHON_STRING = String.raw`u?(?:'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)")`;
const PYTHON_SCALAR = String.raw`(?:${PYTHON_STRING}|(True|False|None)|([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?))`;
const PYTHON_PAIR = String.raw`${PYTHON_STRING}\s*:\s*${PYTHON_SCALAR}\s*(?:,\s*|$)`;

/** Parses a flat Python dict, as the field endpoints send their errors; null for anything else. */
export function readPythonRecord(text: string): WireRecord | null {
  const [, body] = /^\{\s*(.*)\}$/s.exec(text.trim()) ?? [];
  if (body === undefined) return null;
  const entries: [string, unknown][] = [];
  for (const pair = new RegExp(PYTHON_PAIR, 'y'); pair.lastIndex < body.length; ) {
    const found = pair.exec(body);
    if (found === null) return null;
    const [, quotedName, name = quotedName, quotedText, string = quotedText, word, number] = found;
    const value = string === undefined ? (word === undefined ? Number(number) : pythonWord(word)) : unescaped(string);
    entries.push([unescaped(name ?? ''), value]);
  }
  return Object.fromEntries(entries);
}

function pythonWord(word: string): boolean | null {
  return word === 'None' ? null : word === 'True';
}

const PYTHON_ESCAPED = new Map([
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
]);

/** Python keeps the backslash of an unknown escape. */
function unescaped(text: string): string {
  return text.replace(
    /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|(.))/g,
    (whole, byte?: string, short?: string, plain = '') => {
      const hex = byte ?? short;
      if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
      return PYTHON_ESCAPED.get(plain) ?? ('\'"\\'.includes(plain) ? plain : whole);
    },
  );
}

export function readJson(text: string): WireRecord | null {
  try {
    return asRecord(JSON.parse(text));
  } catch {
    return null;
  }
}

function asRecord(value: unknown): WireRecord | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
}

/** Parses JSONP: `callback({...});` */
function readJsonp(text: string): WireRecord | null {
  const open = text.indexOf('(');
  const close = text.lastIndexOf(')');
  if (open === -1 || close < open) return null;
  const callback = text.slice(0, open).replace('/**/', '').trim();
  return /^[\w$.]+$/.test(callback) ? readJson(text.slice(open + 1, close)) : null;
}

/** Parses CSV: a line of names and a line of values; a value that contains a comma is quoted (RFC 4180). */
function readCsv(text: string): WireRecord | null {
  const [names, values] = csvRows(text);
  if (names === undefined || values === undefined || names.length !== values.length) return null;
  return recordOf(names.map((name, column) => [name.trim(), values[column] ?? '']));
}

function csvRows(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  const cell = /(?:"([^"]*(?:""[^"]*)*)"|([^",\r\n]*))(,|\r?\n|$)/y;
  for (let found = cell.exec(text); found !== null; found = cell.exec(text)) {
    row.push(found[1]?.replaceAll('""', '"') ?? found[2] ?? '');
    if (found[3] === ',') continue;
    rows.push(row);
    row = [];
    if (cell.lastIndex >= text.length) break;
  }
  return rows;
}

/** Parses YAML: `name: value` lines; a long value continues on indented lines. */
function readYaml(text: string): WireRecord | null {
  const entries: [string, string][] = [];
  for (const line of text.split(/\r?\n/)) {
    if (line.trim() === '' || line.startsWith('#') || line.startsWith('---') || line.startsWith('...')) continue;
    const last = entries.at(-1);
    const [, name, value] = /^(\w+):(?:\s+(.*))?$/.exec(line) ?? [];
    if (name !== undefined) entries.push([name, (value ?? '').trim()]);
    else if (/^\s/.test(line) && last !== undefined) last[1] = `${last[1]} ${line.trim()}`.trim();
    else return null;
  }
  return entries.length === 0 ? null : recordOf(entries, yamlScalar);
}

function yamlScalar(raw: string): string | null {
  if (raw.length > 1 && raw.startsWith("'") && raw.endsWith("'")) return raw.slice(1, -1).replaceAll("''", "'");
  if (raw.length > 1 && raw.startsWith('"') && raw.endsWith('"')) {
    // YAML has JSON's escapes and others; of the others, the upstream uses only \xNN.
    const json = raw.replace(/\\(?:x([0-9a-fA-F]{2})|[\s\S])/g, (whole, hex?: string) => (hex ? `\\u00${hex}` : whole));
    try {
      return String(JSON.parse(json));
    } catch {
      return raw;
    }
  }
  return raw === 'null' || raw === '~' ? null : missing(raw);
}

/** Parses XML: the leaf elements of a small document such as `<root><ip>8.8.8.8</ip>...</root>`. */
function readXml(text: string): WireRecord | null {
  if (!text.trimStart().startsWith('<')) return null;
  const leaves = text.matchAll(/<([A-Za-z_][\w.-]*)(?:\s[^<>]*)?>([^<]*)<\/\1\s*>/g);
  const entries = [...leaves].map(([, name = '', value = '']): [string, string] => [name, xmlText(value)]);
  return entries.length === 0 ? null : recordOf(entries);
}

const XML_ENTITIES = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
]);

function xmlText(text: string): string {
  return text.replace(
    /&(?:#x([0-9a-fA-F]{1,6})|#(\d{1,7})|(\w+));/g,
    (whole, hex?: string, decimal?: string, name = '') => {
      const codePoint = hex !== undefined ? Number.parseInt(hex, 16) : decimal !== undefined ? Number(decimal) : -1;
      if (codePoint > 0x10ffff) return whole;
      return codePoint >= 0 ? String.fromCodePoint(codePoint) : (XML_ENTITIES.get(name) ?? whole);
    },
  );
}

/** Returns null for a missing value, which formats without null write as an empty text or as Python's `None`. */
function missing(raw: string): string | null {
  return raw === '' || raw === 'None' ? null : raw;
}

function recordOf(entries: [string, string][], read: (raw: string) => string | null = missing): WireRecord {
  return Object.fromEntries(entries.map(([name, raw]) => [name, read(raw)]));
}
