import { readFile, stat } from 'node:fs/promises';
import { RE2JS } from 're2js';
import { z } from 'zod';
import { literalIn } from './literal.ts';
import type { Pattern, Rule, Sign } from './rule.ts';

/** Maximum size of a file, and of a pattern. Wappalyzer's own data have 3 MiB. */
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_PATTERN_CHARACTERS = 2_000;
/** Patterns that the file itself trusts less, in per cent, are left out. */
const MIN_CONFIDENCE = 50;

const texts = z.union([z.string(), z.array(z.string())]).transform((text) => [text].flat());
const textsByName = z.record(z.string(), texts);

/** The fields that are read; `script` is the older name of `scriptSrc`. All others are ignored. */
const Entry = z.looseObject({
  headers: textsByName.optional(),
  cookies: textsByName.optional(),
  meta: textsByName.optional(),
  scriptSrc: texts.optional(),
  script: texts.optional(),
  title: texts.optional(),
});
const Entries = z.record(z.string(), Entry);

interface RulesFile {
  readonly rules: readonly Rule[];
  /** Number of patterns that were left out, because they are too long or need more than linear time. */
  readonly omitted: number;
}

/**
 * Reads rules in the format of Wappalyzer: an object of technologies, alone or as `technologies` or `apps`. Patterns
 * are matched by RE2, in linear time; nothing of the file is run.
 * @throws Error that says what is wrong with the file.
 */
export async function readRulesFile(path: string): Promise<RulesFile> {
  const { size } = await stat(path);
  if (size > MAX_BYTES) throw new Error(`it has ${size} bytes, and may have ${MAX_BYTES}`);
  return rulesIn(JSON.parse(await readFile(path, 'utf8')));
}

/** @throws Error that says what is wrong. */
export function rulesIn(json: unknown): RulesFile {
  const { success, data, error } = Entries.safeParse(entriesIn(json));
  if (!success) {
    const [problem] = error.issues;
    throw new Error(
      `it is not in the format of Wappalyzer: ${problem?.path.join('.') || 'the file'}: ${problem?.message}`,
    );
  }
  const compiler = new Compiler();
  const rules = Object.entries(data).map(([name, entry]) => compiler.rule(name, entry));
  return { rules, omitted: compiler.omitted };
}

function entriesIn(json: unknown): unknown {
  if (typeof json !== 'object' || json === null) return json;
  if ('technologies' in json) return json.technologies;
  return 'apps' in json ? json.apps : json;
}

class Compiler {
  omitted = 0;

  rule(
    name: string,
    { headers, cookies, meta, scriptSrc = [], script = [], title = [] }: z.output<typeof Entry>,
  ): Rule {
    return {
      name,
      headers: this.#byName(headers),
      metas: this.#byName(meta),
      cookies: Object.entries(cookies ?? {}).flatMap(([cookie, written]) =>
        this.#signs(written).map((value) => ({ name: cookieNamed(cookie), value })),
      ),
      scripts: this.#signs([...scriptSrc, ...script]),
      titles: this.#signs(title),
    };
  }

  #byName(written: Readonly<Record<string, readonly string[]>> = {}) {
    return Object.fromEntries(Object.entries(written).map(([name, each]) => [name.toLowerCase(), this.#signs(each)]));
  }

  #signs(written: readonly string[]): readonly Sign[] {
    return written.flatMap((each) => this.#sign(each) ?? []);
  }

  /** `pattern\;version:\1\;confidence:50`. */
  #sign(written: string): Sign | undefined {
    const [pattern = '', ...tags] = written.split('\\;');
    const tag = (name: string) => tags.find((each) => each.startsWith(`${name}:`))?.slice(name.length + 1);
    if (Number(tag('confidence') ?? 100) < MIN_CONFIDENCE) return undefined;
    const compiled = compile(pattern);
    if (compiled === undefined) this.omitted += 1;
    return compiled && { pattern: compiled, version: tag('version') ?? '', literal: literalIn(pattern) };
  }
}

/** Returns undefined for a pattern that RE2 does not know, such as one with a look-ahead. */
function compile(pattern: string): Pattern | undefined {
  if (pattern === '') return () => [''];
  if (pattern.length > MAX_PATTERN_CHARACTERS) return undefined;
  try {
    const compiled = RE2JS.compile(pattern, RE2JS.CASE_INSENSITIVE);
    return (text) => {
      const matcher = compiled.matcher(text);
      if (!matcher.find()) return null;
      return Array.from({ length: matcher.groupCount() + 1 }, (_, nth) => matcher.group(nth) ?? undefined);
    };
  } catch {
    return undefined;
  }
}

/** Names of cookies may have `*` for any characters. */
function cookieNamed(name: string): string | Pattern {
  const lower = name.toLowerCase();
  if (!lower.includes('*')) return lower;
  const pattern = new RegExp(`^${lower.split('*').map(RegExp.escape).join('.{0,200}?')}$`);
  return (text) => pattern.exec(text);
}
