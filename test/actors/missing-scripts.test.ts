import { describe, expect, it, onTestFinished } from 'vitest';
import { fontAdvice, missingScripts, type Script } from '../../src/actors/checks/missing-scripts.ts';
import { startCommand } from '../../src/actors/launching/browser-priority.ts';
import { Confinement } from '../../src/actors/launching/confinement.ts';
import { executableFinder } from '../../src/actors/launching/executable.ts';
import { launchBrowser } from '../../src/actors/launching/launch-browser.ts';
import { EMOJI_FONT, fontconfigWith, LATIN_FONT } from '../support/fonts.ts';

/** Returns the writing systems that a browser with only the given fonts cannot show. */
async function missingWith(...fonts: string[]): Promise<readonly Script[]> {
  const found = await executableFinder(undefined)();
  if ('missing' in found) throw new Error(found.missing);
  const host = await launchBrowser({
    executable: found.path,
    env: { FONTCONFIG_FILE: await fontconfigWith(...fonts) },
    confined: new Confinement('auto', () => undefined).now,
    startCommand: startCommand('low', () => undefined),
    honestUserAgent: false,
  });
  onTestFinished(() => host.close());
  return missingScripts(host);
}

const namesOf = (scripts: readonly Script[]) => scripts.map(({ name }) => name);

describe('missing scripts', () => {
  it('lists the writing systems that no font of the browser supports', async () => {
    const latin = namesOf(await missingWith(LATIN_FONT));
    expect(latin).toEqual(expect.arrayContaining(['Chinese', 'Japanese', 'Korean', 'emoji', 'Arabic', 'Thai']));
    expect(latin).not.toContain('Greek');
    expect(namesOf(await missingWith(LATIN_FONT, EMOJI_FONT))).toEqual(latin.filter((name) => name !== 'emoji'));
  });

  it('names the Debian packages that contain the missing fonts', async () => {
    expect(fontAdvice(await missingWith(LATIN_FONT))).toMatch(
      /: Chinese, Japanese, Korean \(fonts-noto-cjk\); emoji \(fonts-noto-color-emoji\); Arabic, .*Thai, .*\(fonts-noto-core\)$/,
    );
    expect(fontAdvice([])).toBeUndefined();
  });
});
