import { useState } from 'preact/hooks';
import { CapstanFailure, call } from '../../api/client.ts';
import type { Receiver } from '../../api/types.ts';
import type { Kind } from './kinds.ts';

/** A new receiver as the form shows it. */
export interface ReceiverDraft {
  readonly kind: Kind;
  /** Undefined until it is written: the name of the kind is then used. */
  readonly name: string | undefined;
  readonly address: string;
  /** Empty for messages of their own. */
  readonly every: string;
  readonly quietFrom: string;
  readonly quietTo: string;
  readonly maxPerHour: string;
}

const EMPTY: ReceiverDraft = {
  kind: 'slack',
  name: undefined,
  ...{ address: '', every: '', quietFrom: '', quietTo: '', maxPerHour: '' },
};

export const TIME_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

export type NewReceiver = ReturnType<typeof useNewReceiver>;

/** A receiver that is being added. */
export function useNewReceiver() {
  const [draft, setDraft] = useState(EMPTY);
  const [isOpen, setOpen] = useState(false);
  const [error, setError] = useState<unknown>();
  const problems = problemsIn(error);
  return {
    draft,
    isOpen,
    open: () => setOpen(true),
    close: () => {
      setOpen(false);
      setDraft(EMPTY);
      setError(undefined);
    },
    change: (part: Partial<ReceiverDraft>) => {
      setDraft((old) => ({ ...old, ...part }));
      setError(undefined);
    },
    /** Whether it was begun to be written. */
    isFilled: isOpen && draft.address.trim() !== '',
    /** What is wrong with a field. */
    problemOf: (field: string) => problems.find(({ path }) => path === field)?.message,
    /** A failure that is of no field. */
    error: problems.length === 0 ? error : undefined,
    /** Adds it. Resolves with undefined when the service refuses it. */
    add: async (): Promise<Receiver | undefined> => {
      try {
        const { data } = await call<Receiver>('/receivers', { method: 'POST', body: bodyOf(draft) });
        setOpen(false);
        setDraft(EMPTY);
        setError(undefined);
        return data;
      } catch (failure) {
        setError(failure);
        return undefined;
      }
    },
  };
}

function bodyOf(draft: ReceiverDraft): object {
  const { kind, name, address, every, quietFrom, quietTo, maxPerHour } = draft;
  const isQuiet = quietFrom !== '' || quietTo !== '';
  return {
    name: (name ?? kind).trim(),
    kind,
    address: address.trim(),
    ...(every !== '' && { every }),
    ...(isQuiet && { quiet: `${quietFrom}-${quietTo} ${TIME_ZONE}` }),
    ...(maxPerHour !== '' && { maxPerHour: Number(maxPerHour) }),
  };
}

/** Returns what is wrong with the fields. An address that must not be dialled is refused by a message alone. */
function problemsIn(error: unknown): readonly { readonly path: string; readonly message: string }[] {
  if (!(error instanceof CapstanFailure)) return [];
  if (error.code !== 'target_forbidden') return error.problems;
  return [{ path: 'address', message: error.message.replace(/^address: /, '') }];
}
