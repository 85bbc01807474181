import { SaxesParser, type SaxesTagPlain } from 'saxes';

/** An element: its name without a prefix, its attributes, its line. */
export interface XmlElement {
  readonly name: string;
  /** Whether no element is around it. Files that were joined have several. */
  readonly isRoot: boolean;
  readonly attributes: Readonly<Record<string, string>>;
  readonly line: number;
}

interface XmlHandler<T> {
  /** Returns what the element gives when it begins. */
  readonly open?: (element: XmlElement) => readonly T[];
  /** `text`: the text in the element, without that of its children. */
  readonly close?: (name: string, text: string, line: number) => readonly T[];
  /** Called when the text ends before its root element does. */
  readonly unfinished: (line: number) => readonly T[];
  /** Called for text that is not XML, which is then read no further. */
  readonly broken: (problem: string, line: number) => readonly T[];
}

/** Maximum length of the text of one element, in characters. */
const MAX_TEXT_CHARACTERS = 16 * 1024;
/** Maximum length of what is no whole tag, text or comment, in characters: the parser keeps it. */
const MAX_KEPT_CHARACTERS = 1024 * 1024;
/** Maximum number of elements in each other. */
const MAX_DEPTH = 256;
/** Errors that lose no target: an unknown entity, blank lines before the first tag, and files that were joined. */
const HARMLESS = /undefined entity|declaration must be at|^expected (?:one of|the name) |only one root|located doctype/;

/**
 * Reads XML as it arrives, and generates the findings of the handler, those of a piece together. Entities other than
 * the five of XML are not known, document types are skipped, and nothing that the text refers to is read.
 */
export async function* readXml<T>(
  texts: AsyncIterable<string>,
  handler: XmlHandler<T>,
): AsyncGenerator<readonly T[], void, undefined> {
  const parser = new QuietParser((message) => {
    // An end in the middle of an element is no error of the text before it.
    if (!isEnding && !HARMLESS.test(message)) problem ??= message;
  });
  let found: T[] = [];
  let problem: string | undefined;
  let isEnding = false;
  let kept = 0;
  const contents: string[] = [];
  const add = (piece: string): void => {
    kept = 0;
    const last = contents.length - 1;
    const text = contents[last];
    if (text !== undefined) contents[last] = text + piece.slice(0, MAX_TEXT_CHARACTERS - text.length);
  };
  parser.on('opentag', ({ name, attributes }: SaxesTagPlain) => {
    kept = 0;
    contents.push('');
    if (contents.length > MAX_DEPTH) problem ??= `has more than ${MAX_DEPTH} elements in each other`;
    if (problem !== undefined) return;
    const isRoot = contents.length === 1;
    found.push(...(handler.open?.({ name: localName(name), isRoot, attributes, line: parser.line }) ?? []));
  });
  parser.on('text', add);
  parser.on('cdata', add);
  parser.on('closetag', ({ name }) => {
    kept = 0;
    const text = contents.pop() ?? '';
    // The parser closes what is open when the text ends.
    if (!isEnding && problem === undefined) found.push(...(handler.close?.(localName(name), text, parser.line) ?? []));
  });
  const heard = (): void => {
    kept = 0;
  };
  parser.on('comment', heard);
  parser.on('doctype', heard);
  for await (const text of texts) {
    kept += text.length;
    parser.write(text);
    if (kept > MAX_KEPT_CHARACTERS) problem ??= 'has more than a million characters without a tag';
    yield found;
    found = [];
    if (problem === undefined) continue;
    yield handler.broken(problem, parser.line);
    return;
  }
  const isUnfinished = contents.length > 0;
  // Closing resets the line.
  const { line } = parser;
  isEnding = true;
  parser.close();
  yield found;
  if (isUnfinished) yield handler.unfinished(line);
}

/** Reports errors without creating `Error` objects: 16,000 unknown entities in a piece took 0.1 s of one turn. */
class QuietParser extends SaxesParser {
  readonly #onProblem: (message: string) => void;

  constructor(onProblem: (message: string) => void) {
    super();
    this.#onProblem = onProblem;
  }

  override fail(message: string): this {
    this.#onProblem(message);
    return this;
  }
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}
