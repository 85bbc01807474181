import { describe, expect, it } from 'vitest';
import { failure } from '../../src/capture/errors.ts';
import { logEvent } from '../../src/service/operation/log-event.ts';
import { collectingLogger } from '../support/collecting-logger.ts';

describe('logEvent', () => {
  it('keeps the reason of a failure, with URLs shortened to their hosts', () => {
    const { logger, lines } = collectingLogger();
    const about = {
      at: '2026-01-01T00:00:00.000Z',
      url: 'https://a.example/?key=hush',
      host: 'a.example',
      batch: null,
    };
    for (const reason of ['no such name: a.example', 'https://a.example/?key=hush: the connection was reset']) {
      logEvent(logger, {
        ...about,
        id: 7,
        type: 'capture.failed',
        failure: failure('target_unreachable', reason),
        result: null,
      });
    }
    expect(lines.map(({ code, reason }) => [code, reason])).toEqual([
      ['target_unreachable', 'no such name: a.example'],
      ['target_unreachable', 'a.example: the connection was reset'],
    ]);
  });
});
