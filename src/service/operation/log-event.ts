import type { CapstanEvent, CaptureEvent } from '../../capture/events.ts';
import type { Logger } from '../../log/log.ts';

/**
 * Logs an event, if it is one that operators read: ends of captures, browsers, pressure, watches and webhooks. Only the
 * host of a URL is logged, because the rest may contain a secret.
 */
export function logEvent(logger: Logger, event: CapstanEvent): void {
  switch (event.type) {
    case 'capture.stored':
    case 'capture.failed':
    case 'capture.timed_out':
    case 'capture.cancelled':
    case 'capture.rejected':
    case 'capture.reused':
      logger.info(captureFacts(event), event.type);
      break;
    case 'browser.launched':
    case 'browser.retired':
    case 'browser.crashed': {
      const { type, pid, captures } = event;
      const reason = 'reason' in event ? { reason: event.reason } : {};
      logger[type === 'browser.crashed' ? 'warn' : 'info']({ browser_pid: pid, captures, ...reason }, type);
      break;
    }
    case 'watch.changed':
    case 'watch.failed':
    case 'watch.recovered': {
      const { type, watch, host, run } = event;
      const reason = run.reason === null ? {} : { reason: withoutUrls(run.reason) };
      logger.info({ watch, host, capture_id: run.capture, changed: run.changed, ...reason }, type);
      break;
    }
    case 'message.failed': {
      const { type, at: _at, ...failed } = event;
      logger.warn(failed, type);
      break;
    }
    case 'pressure.changed': {
      const { type, at: _at, ...pressure } = event;
      logger[event.accepting && event.degraded.length === 0 ? 'info' : 'warn'](pressure, type);
      break;
    }
    case 'capture.held':
    case 'capture.released': {
      const { type, id, host, by } = event;
      logger.info({ capture_id: id, host, by }, type);
      break;
    }
    // These need no line. Every type is named, so that a new one does not compile until this is decided.
    case 'capture.queued':
    case 'capture.started':
    case 'capture.marked':
    case 'batch.accepted':
    case 'batch.progress':
    case 'batch.completed':
    case 'watch.run':
    case 'message.delivered':
      break;
    default:
      event satisfies never;
  }
}

function captureFacts(event: Exclude<CaptureEvent, { type: 'capture.queued' | 'capture.started' }>) {
  const { id, host, batch, request_id: requestId } = event;
  const base = { capture_id: id, host, ...(batch !== null && { batch }), ...(requestId && { request_id: requestId }) };
  const failure = 'failure' in event ? { code: event.failure.code, reason: withoutUrls(event.failure.reason) } : {};
  const result = 'result' in event ? event.result : null;
  if (result === null) return { ...base, ...failure };
  return { ...base, ...failure, response_code: result.response_code, duration_ms: result.duration_ms };
}

/** Replaces each URL with its host. */
function withoutUrls(text: string): string {
  return text.replace(/\b[a-z][a-z0-9+.-]*:\/\/[^\s"']*[^\s"':,.;]/gi, (url) => URL.parse(url)?.host ?? '');
}
