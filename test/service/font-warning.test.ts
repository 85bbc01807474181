import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { warnOfMissingFonts } from '../../src/service/capturing/font-warning.ts';
import { startActor } from '../support/actor.ts';
import { collectingLogger } from '../support/collecting-logger.ts';
import { EMOJI_FONT, fontconfigWith, LATIN_FONT } from '../support/fonts.ts';

describe('the warning about missing fonts', () => {
  const warningsWith = async (...fonts: string[]) => {
    vi.stubEnv('FONTCONFIG_FILE', await fontconfigWith(...fonts));
    onTestFinished(() => void vi.unstubAllEnvs());
    const running = await startActor();
    onTestFinished(running.stop);
    const { logger, lines } = collectingLogger();
    await warnOfMissingFonts(running.actor, logger);
    expect(running.actor.stats()).toMatchObject({ busy: 0, browsers: [{ captures: 0 }], launches: 1 });
    return lines.map(({ level, msg }) => ({ level, msg }));
  };

  it('logs one line that names scripts and packages, and counts no capture', async () => {
    expect(await warningsWith(LATIN_FONT, EMOJI_FONT)).toEqual([
      {
        level: 40,
        msg: expect.stringMatching(
          /^no font for some scripts, .*: Chinese, Japanese, Korean \(fonts-noto-cjk\); Arabic, .* \(fonts-noto-core\)$/,
        ),
      },
    ]);
  });

  it('logs no warning when no browser can be started', async () => {
    const { actor, stop } = await startActor({ browserPath: '/nonexistent/chromium' });
    onTestFinished(stop);
    const { logger, lines } = collectingLogger();
    await warnOfMissingFonts(actor, logger);
    expect(lines).toEqual([]);
  });
});
