import { z } from 'zod';
import { call } from '../../page/asking/page-scripts.ts';
import type { BrowserHost } from '../browser-host.ts';
import { evaluateInPage } from './evaluate-in-page.ts';

/** A script, or a set of symbols, that pages are written in. */
export interface Script {
  readonly name: string;
  /** A character that every font for the script has. */
  readonly sample: string;
  /** The Debian package that contains a font for the script. */
  readonly debianPackage: string;
}

const SCRIPTS: readonly Script[] = [
  ...inPackage('fonts-noto-cjk', { Chinese: '漢', Japanese: 'あ', Korean: '한' }),
  // A newer emoji: text fonts have some of the older ones, in black and white.
  ...inPackage('fonts-noto-color-emoji', { emoji: '🥰' }),
  ...inPackage('fonts-noto-core', {
    Arabic: 'ع',
    Armenian: 'հ',
    Bengali: 'ব',
    Burmese: 'မ',
    Cyrillic: 'Ж',
    Devanagari: 'ह',
    Ethiopic: 'አ',
    Georgian: 'ა',
    Greek: 'δ',
    Gujarati: 'ગ',
    Gurmukhi: 'ਗ',
    Hebrew: 'א',
    Kannada: 'ಕ',
    Khmer: 'ខ',
    Lao: 'ລ',
    Malayalam: 'മ',
    Odia: 'ଓ',
    Sinhala: 'ස',
    Tamil: 'த',
    Telugu: 'త',
    Thai: 'ก',
    Tibetan: 'ཀ',
  }),
];

/**
 * Returns the scripts that the browser draws as boxes, because it finds no font for them. Asks the browser itself:
 * which fonts it finds depends on its build, its user and its environment. Measured: about 100 ms.
 * @throws CdpClosedError when the browser ends first.
 */
export async function missingScripts(host: BrowserHost): Promise<readonly Script[]> {
  const samples = SCRIPTS.map(({ sample }) => sample);
  const drawnAsBoxes = new Set(z.array(z.string()).parse(await evaluateInPage(host, call('findBoxes', samples))));
  return SCRIPTS.filter(({ sample }) => drawnAsBoxes.has(sample));
}

/** Returns a sentence that names the scripts and the packages to install; undefined when no script is missing. */
export function fontAdvice(missing: readonly Script[]): string | undefined {
  if (missing.length === 0) return undefined;
  const packages = Map.groupBy(missing, ({ debianPackage }) => debianPackage);
  const parts = [...packages].map(([name, scripts]) => `${scripts.map((script) => script.name).join(', ')} (${name})`);
  return `no font for some scripts, whose characters are drawn as boxes; the Debian packages to install: ${parts.join('; ')}`;
}

function inPackage(debianPackage: string, samples: Readonly<Record<string, string>>): readonly Script[] {
  return Object.entries(samples).map(([name, sample]) => ({ name, sample, debianPackage }));
}
