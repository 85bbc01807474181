import { optionLabels } from '../../src/capture/options/option-labels.ts';
import type { Job, Result } from '../api/types.ts';

export type Tone = 'good' | 'warn' | 'bad' | 'plain';

export const JOB_TONES: Readonly<Record<Job['state'], Tone>> = {
  queued: 'plain',
  running: 'warn',
  completed: 'good',
  cancelled: 'plain',
  failed: 'bad',
};

export function Badge({
  tone,
  children,
  title,
}: {
  readonly tone: Tone;
  readonly children: string;
  readonly title?: string;
}) {
  return (
    <span class={`badge ${tone}`} title={title}>
      {children}
    </span>
  );
}

/** The outcome of a capture: the target's status, or the code of the failure. */
export function OutcomeBadge({
  result,
}: {
  readonly result: Pick<Result, 'failed' | 'failed_code' | 'response_code' | 'partial'>;
}) {
  const { failed, failed_code: code, response_code: status, partial } = result;
  if (failed) return <Badge tone="bad">{(code === '' ? 'failed' : code).replaceAll('_', ' ')}</Badge>;
  const tone = status >= 500 ? 'bad' : status >= 400 ? 'warn' : 'good';
  return (
    <>
      {partial && <Badge tone="warn">partial</Badge>}
      <Badge tone={tone}>{status === 0 ? 'no status' : String(status)}</Badge>
    </>
  );
}

/** A badge for a page that is not what was asked for; none for content. */
export function VerdictBadge({ result }: { readonly result: Pick<Result, 'verdict' | 'verdict_reasons'> }) {
  const { verdict, verdict_reasons: reasons } = result;
  if (verdict === null || verdict === 'content') return null;
  return (
    <Badge tone="warn" title={reasons.map(worded).join(', ')}>
      {worded(verdict)}
    </Badge>
  );
}

/** Badges of the first labels of a capture, and of its hold. */
export function MarkBadges({
  result,
  max,
}: {
  readonly result: Pick<Result, 'labels' | 'hold'>;
  readonly max: number;
}) {
  const { labels, hold } = result;
  return (
    <>
      {hold !== null && <Badge tone="warn">held</Badge>}
      {labels.slice(0, max).map((label) => (
        <Badge key={label} tone="plain" title={labels.join(', ')}>
          {label}
        </Badge>
      ))}
    </>
  );
}

/** Returns a name of the API as words. */
export function worded(name: string): string {
  return name.replaceAll('_', ' ');
}

/** Badges of the options that differ from the defaults. Beyond `max`, the number of further options. */
export function OptionBadges({
  result,
  max = Number.POSITIVE_INFINITY,
}: {
  readonly result: Pick<Result, 'options' | 'options_withheld'>;
  readonly max?: number;
}) {
  const labels = optionLabels(result);
  const shown = labels.length > max ? labels.slice(0, max) : labels;
  const rest = labels.slice(shown.length);
  return (
    <>
      {shown.map((label) => (
        <span key={label} class="badge made" title={label}>
          {label}
        </span>
      ))}
      {rest.length > 0 && (
        <span class="badge made" title={rest.join(', ')}>
          +{rest.length}
        </span>
      )}
    </>
  );
}
