import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { errorText } from '../../capture/basics/error-text.ts';
import { readTarget } from '../../capture/target.ts';
import { ConfigError } from '../../config/mod.ts';
import { decodeText } from '../decode-text.ts';

/** A line that is not a URL. */
export interface BadLine {
  /** The line itself. */
  readonly url: string;
  /** File and line number: `urls.txt:3`. */
  readonly place: string;
  readonly problem: string;
}

interface ShotTargets {
  readonly urls: readonly string[];
  readonly badLines: readonly BadLine[];
}

/**
 * Reads the URLs of the command line and of lists; `-` is standard input. Blank lines and lines that begin with `#` are
 * skipped.
 * @throws ConfigError for a bad URL on the command line, for a list that cannot be read, and when there is nothing to
 * capture.
 */
export async function readTargets(args: readonly string[], lists: readonly string[]): Promise<ShotTargets> {
  const urls: string[] = [];
  const badLines: BadLine[] = [];
  const addList = async (list: string): Promise<void> => {
    for (const [index, line] of (await readList(list)).split('\n').entries()) {
      const url = line.trim();
      if (url === '' || url.startsWith('#')) continue;
      const reading = readTarget(url);
      if (reading.ok) urls.push(url);
      else
        badLines.push({
          url,
          place: `${list === '-' ? 'standard input' : list}:${index + 1}`,
          problem: reading.problem,
        });
    }
  };
  for (const arg of args) {
    if (arg === '-') await addList(arg);
    else urls.push(checked(arg));
  }
  for (const list of lists) await addList(list);
  if (urls.length + badLines.length === 0) {
    throw new ConfigError('shot takes at least one URL: as an argument, in a --list, or with - on standard input');
  }
  return { urls, badLines };
}

function checked(url: string): string {
  const reading = readTarget(url);
  if (!reading.ok) throw new ConfigError(`shot takes URLs, and ${JSON.stringify(url)} ${reading.problem}`);
  return url;
}

async function readList(list: string): Promise<string> {
  if (list === '-') return decodeText(await buffer(process.stdin));
  try {
    return decodeText(await readFile(list));
  } catch (error) {
    throw new ConfigError(`--list takes a file with one URL per line: ${errorText(error)}`);
  }
}
