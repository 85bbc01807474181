import { z } from 'zod';
import type { Found } from './found.ts';

/** Maximum length of one record, in characters. Banners are a few KiB. */
const MAX_RECORD_CHARACTERS = 256 * 1024;

const ip = z.string();
const port = z.int();
const proto = z.string().default('tcp');
const status = z.string().default('open');

const RecordSchema = z.union([
  z.object({ ip, ports: z.array(z.object({ port, proto, status })) }),
  // A line of `-oD`, which has one port.
  z
    .object({ ip, port, proto, data: z.object({ status }) })
    .transform(({ ip, port, proto, data }) => ({ ip, ports: [{ port, proto, status: data.status }] })),
]);

/** Finds the open TCP ports in the output of `masscan -oJ` and `-oD`, also of one that has not ended. */
export async function* masscanList(texts: AsyncIterable<string>): AsyncGenerator<readonly Found[], void, undefined> {
  for await (const objects of objectsIn(texts)) {
    yield objects.flatMap(({ line, text }) => [...portsOf(line, text)]);
  }
}

function* portsOf(line: number, text: string): Generator<Found, void, undefined> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The last record of some versions is `{finished: 1}`, which is not JSON.
    if (/^\{\s*finished\s*:/.test(text)) return;
    yield { line, text: text.slice(0, 100), reason: 'invalid', problem: 'is not JSON' };
    return;
  }
  const parsed = RecordSchema.safeParse(value);
  if (!parsed.success) {
    if (typeof value === 'object' && value !== null && 'finished' in value) return;
    yield { line, text: text.slice(0, 100), reason: 'invalid', problem: 'is not a record of masscan' };
    return;
  }
  const { ip, ports } = parsed.data;
  const host = ip.includes(':') ? `[${ip}]` : ip;
  for (const { port, proto, status } of ports) {
    const target = `${host}:${port}`;
    if (proto !== 'tcp') yield { line, text: `${target}/${proto}`, reason: 'other_service', problem: null };
    else if (status !== 'open') yield { line, text: target, reason: 'closed_port', problem: null };
    // Records with a banner and without a status repeat a port.
    else yield { line, target };
  }
}

/** An object of a JSON array, and the line where it begins. */
interface NumberedObject {
  readonly line: number;
  readonly text: string;
}

/**
 * Generates the objects of a JSON array, however they are laid out: those of each piece of the text together. Commas
 * between them may be missing or too many, as in files of older versions.
 */
async function* objectsIn(texts: AsyncIterable<string>): AsyncGenerator<readonly NumberedObject[], void, undefined> {
  let line = 1;
  let startLine = 1;
  let held = '';
  let depth = 0;
  let isInString = false;
  let isEscaped = false;
  for await (const text of texts) {
    const objects: NumberedObject[] = [];
    let from = depth > 0 ? 0 : -1;
    for (let at = 0; at < text.length; at += 1) {
      const character = text[at];
      if (character === '\n') line += 1;
      if (isInString) {
        if (isEscaped) isEscaped = false;
        else if (character === '\\') isEscaped = true;
        else if (character === '"') isInString = false;
      } else if (character === '"') {
        isInString = depth > 0;
      } else if (character === '{') {
        if (depth === 0) {
          from = at;
          startLine = line;
        }
        depth += 1;
      } else if (character === '}' && depth > 0) {
        depth -= 1;
        if (depth > 0) continue;
        objects.push({ line: startLine, text: held + text.slice(from, at + 1) });
        held = '';
        from = -1;
      }
    }
    if (from >= 0) held += text.slice(from);
    if (held.length > MAX_RECORD_CHARACTERS) {
      objects.push({ line: startLine, text: `${held.slice(0, 100)}…` });
      held = '';
      depth = 0;
      isInString = false;
    }
    yield objects;
  }
  if (depth > 0) yield [{ line: startLine, text: held }];
}
