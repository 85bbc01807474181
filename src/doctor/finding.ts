import { oneLine } from '../log/printable.ts';

/** The result of one check. */
export interface Finding {
  readonly check: string;
  /** `warning`: the service captures, but not as well as it could. `failure`: the service cannot start or capture. */
  readonly state: 'ok' | 'warning' | 'failure';
  /** One line. */
  readonly found: string;
  /** Advice; empty when there is nothing to do. */
  readonly advice: string;
}

export function findingsOf(check: string) {
  const make = (state: Finding['state']) => (found: string, advice: string) => [
    { check, state, found: oneLine(found), advice: oneLine(advice) },
  ];
  return { ok: (found: string) => make('ok')(found, ''), warning: make('warning'), failure: make('failure') };
}
