import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ArchivedFile } from '../../page/evidence/archived-files.ts';

/*
 * Chromium writes an archive from the parsed style sheets, which loses declarations, and puts all <style> elements
 * before all linked style sheets. The script `prepareArchive` finds out in the page what is needed to mend that.
 */

/** A comment of this and a number marks where a <style> element was. */
export const STYLE_MARK = 'capstan-style-';

/** A comment of this and a number marks where a style sheet is missing. */
export const ADDED_MARK = 'capstan-added-';

/** Facts about the style sheets of an archive that are not in it. */
interface KnownStyles {
  /** Texts of the <style> elements in order; null for one that the archive describes best. */
  readonly styles: readonly (string | null)[];
  /** Texts of style sheets that the archive lacks, by the numbers of their marks. */
  readonly added: ReadonlyMap<number, string>;
  /** Style sheets as they were sent; fonts and images that the archive lacks. */
  readonly files: readonly ArchivedFile[];
}

/** Maximum size of a document in which links are moved: it is searched in one turn of the event loop. */
const MAX_HTML_BYTES = 4 * 1024 * 1024;
/** Number of bytes within which a document links to its first <style> element. */
const MAX_HEAD_BYTES = 4_096;

const MAX_LINE_CHARACTERS = 70;
/** A line of quoted-printable may end anywhere. */
const SOFT_BREAK = '=\r\n';
const SOFT = '(?:=\\r\\n)?';
const quoted = (text: string) => [...text].map((each) => (each === '=' ? '=3D' : RegExp.escape(each))).join(SOFT);
const LINK = new RegExp(
  `${SOFT}${quoted('<link rel="stylesheet" type="text/css" href="')}((?:[\\w.@:-]|=\\r\\n)+?)${SOFT}${quoted('" />')}`,
);
const MARK = new RegExp(`${quoted(`<!--${STYLE_MARK}`)}((?:\\d|=\\r\\n)+)${quoted('-->')}`, 'g');

const ADDED = new RegExp(`${quoted(`<!--${ADDED_MARK}`)}((?:\\d|=\\r\\n)+)${quoted('-->')}`, 'g');
/**
 * The `srcset` of `<source>` elements: an archive has only the image that was shown, as the `src` of the `<img>`. It
 * never reads on past `<`, which Chromium escapes in attributes, so that its time is linear.
 */
const SOURCES = new RegExp(`(${quoted('<source ')}(?:[^<>"]|"[^<>"]*")*?)${quoted('srcset="')}[^<>"]*"`, 'g');
/**
 * The URL of a blob, which browsers do not look up in an archive; in a document or style sheet, and as a part's name.
 */
const BLOB = new RegExp(`${quoted('blob:')}((?:[\\w.:/%-]|=\\r\\n)+)`, 'g');
const BLOB_PART = /^(Content-Location: )blob:(\S+)/m;

interface Part {
  readonly head: string;
  readonly body: Buffer;
}

/**
 * Puts the style sheets of an archive back as they were written, and in their order, and adds the fonts and images that
 * Chromium leaves out. Returns an archive of an unknown form unchanged.
 */
export async function mendArchive(archive: Buffer, { styles, added, files }: KnownStyles): Promise<Buffer> {
  // The head names the page's URL and title, which may be long.
  const head = archive.toString('latin1', 0, Math.max(0, archive.indexOf('\r\n\r\n')));
  const boundary = /boundary="([^"\r\n]+)"/.exec(head)?.[1];
  if (boundary === undefined) return archive;
  const line = `\r\n--${boundary}`;
  const parts = dividedAt(archive, line);
  // Searching and copying an archive of 64 MiB takes tens of milliseconds each.
  await nextTurn();
  const main = parts[1];
  if (main === undefined) return archive;
  const texts = new Map<string, Buffer>();
  for (const { kind, url, body } of files) if (kind === 'Stylesheet') texts.set(url, bytesOf(body));
  const { html, names } = inOrder(main.body, styles.length);
  for (const [at, name] of names.entries()) {
    const text = styles[at];
    if (text !== undefined && text !== null) texts.set(name, Buffer.from(text));
  }
  const mended: Buffer[] = [archive.subarray(0, archive.indexOf(line))];
  await nextTurn();
  const add = (head: string, body: Buffer) => mended.push(Buffer.from(`${line}\r\n${head}\r\n\r\n`), body);
  add(main.head, withNames(mendHtml(html, added)));
  for (const { head: named, body: coded } of parts.slice(2)) {
    const sent = /^Content-Type: text\/html/m.test(named) ? mendHtml(coded, added) : coded;
    const head = named.replace(BLOB_PART, (_, start: string, id: string) => `${start}${nameOfBlob(id)}`);
    const body = /^Content-Transfer-Encoding: quoted-printable/m.test(head) ? withNames(sent) : sent;
    const text = texts.get(/^Content-Location: (.*)$/m.exec(head)?.[1]?.trim() ?? '');
    if (text === undefined || !/^Content-Type: text\/css/m.test(head)) add(head, body);
    else
      add(
        head.replace(/^Content-Transfer-Encoding: .*$/m, 'Content-Transfer-Encoding: base64'),
        await base64(asUtf8(text)),
      );
  }
  for (const { kind, url, type, body } of files) {
    if (kind === 'Stylesheet') continue;
    const name = url.startsWith('blob:') ? nameOfBlob(url.slice('blob:'.length)) : url;
    const head = `Content-Type: ${type}\r\nContent-Transfer-Encoding: base64\r\nContent-Location: ${name}`;
    add(head, await base64(bytesOf(body)));
  }
  mended.push(Buffer.from(`${line}--\r\n`));
  await nextTurn();
  return Buffer.concat(mended);
}

/** Divides an archive at its boundaries; the first part is what stands before them. */
function dividedAt(archive: Buffer, line: string): readonly Part[] {
  const parts: Part[] = [];
  for (let at = 0; at < archive.length; ) {
    const end = archive.indexOf(line, at);
    const part = archive.subarray(at, end === -1 ? archive.length : end);
    const blank = part.indexOf('\r\n\r\n');
    parts.push({ head: part.toString('latin1', 0, blank).trim(), body: part.subarray(blank + 4) });
    if (end === -1) break;
    at = end + line.length;
    // The last boundary.
    if (archive.toString('latin1', at, at + 2) === '--') break;
  }
  return parts;
}

/**
 * Moves the links to <style> elements from the beginning of a document to their marks. Returns the names of their parts
 * in that order, none when there are not as many as elements.
 */
function inOrder(body: Buffer, elements: number): { readonly html: Buffer; readonly names: readonly string[] } {
  const unchanged = { html: body, names: [] };
  if (elements === 0 || body.length > MAX_HTML_BYTES) return unchanged;
  const html = body.toString('latin1');
  const first = html.search(LINK);
  if (first === -1 || first > MAX_HEAD_BYTES) return unchanged;
  const links: string[] = [];
  const names: string[] = [];
  const link = new RegExp(LINK, 'y');
  link.lastIndex = first;
  let end = first;
  for (let found = link.exec(html); found !== null; found = link.exec(html)) {
    links.push(found[0]);
    names.push((found[1] ?? '').replaceAll(SOFT_BREAK, ''));
    end = link.lastIndex;
  }
  if (links.length !== elements) return unchanged;
  const rest = html.slice(0, first) + html.slice(end);
  const marked = new Set<number>();
  const moved = rest.replace(MARK, (_, number: string) => {
    const at = Number(number.replaceAll(SOFT_BREAK, ''));
    if (marked.has(at)) return '';
    marked.add(at);
    return `${SOFT_BREAK}${links[at] ?? ''}${SOFT_BREAK}`;
  });
  return marked.size === elements ? { html: Buffer.from(moved, 'latin1'), names } : unchanged;
}

/** Takes the sources out of pictures, and puts style sheets in place of their marks. */
function mendHtml(body: Buffer, added: KnownStyles['added']): Buffer {
  if (body.length > MAX_HTML_BYTES) return body;
  const html = body.toString('latin1');
  const mended = withAdded(html.replace(SOURCES, `$1${SOFT_BREAK}`), added);
  return mended === html ? body : Buffer.from(mended, 'latin1');
}

function withAdded(html: string, added: KnownStyles['added']): string {
  if (added.size === 0) return html;
  const put = new Set<number>();
  return html.replace(ADDED, (_, number: string) => {
    const at = Number(number.replaceAll(SOFT_BREAK, ''));
    if (put.has(at)) return '';
    put.add(at);
    return `${SOFT_BREAK}${quotedPrintable(`<style>${asAscii(added.get(at) ?? '')}</style>`)}${SOFT_BREAK}`;
  });
}

/** Gives the blobs that a document or a style sheet names the names that they have as parts. */
function withNames(body: Buffer): Buffer {
  if (body.length > MAX_HTML_BYTES) return body;
  const text = body.toString('latin1');
  const named = text.replace(BLOB, (_, id: string) => {
    return `${SOFT_BREAK}${nameOfBlob(id.replaceAll(SOFT_BREAK, ''))}${SOFT_BREAK}`;
  });
  return named === text ? body : Buffer.from(named, 'latin1');
}

const nameOfBlob = (id: string): string => `cid:blob-${id.replaceAll(/[^\w-]/g, '-')}@mhtml.blink`;

/** Writes a style sheet so that neither the document's encoding matters, nor the end of an element in it. */
function asAscii(css: string): string {
  const escaped = css.replaceAll('</', '<\\/');
  return escaped.replaceAll(/[^\0-\x7f]/gu, (character) => `\\${character.codePointAt(0)?.toString(16)} `);
}

function quotedPrintable(ascii: string): string {
  let line = 0;
  const codes = [...ascii].map((character) => {
    const isPlain = /[ !-<>-~]/.test(character);
    const code = isPlain ? character : `=${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
    line += code.length;
    if (line <= MAX_LINE_CHARACTERS) return code;
    line = code.length;
    return `${SOFT_BREAK}${code}`;
  });
  return codes.join('');
}

function bytesOf({ text = '', encoding }: ArchivedFile['body']): Buffer {
  return Buffer.from(text, encoding === 'base64' ? 'base64' : 'utf8');
}

/** The browser has decoded the text, so the encoding that it names for itself no longer holds. */
function asUtf8(text: Buffer): Buffer {
  const named = /^\uFEFF?@charset "[^"\n]*";/.exec(text.toString('utf8', 0, 100))?.[0] ?? '';
  return Buffer.concat([Buffer.from('@charset "utf-8";\n'), text.subarray(Buffer.byteLength(named))]);
}

async function base64(bytes: Buffer): Promise<Buffer> {
  await nextTurn();
  return Buffer.from(bytes.toString('base64').replace(/.{76}/g, '$&\r\n'), 'latin1');
}
