import type { Result } from '../api/types.ts';

export type Tone = 'good' | 'warn' | 'bad' | 'plain';

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
