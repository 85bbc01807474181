import { useState } from 'preact/hooks';
import { CapstanFailure, call } from '../../api/client.ts';
import type { Receiver } from '../../api/types.ts';
import { TIME_ZONE } from '../format.ts';
import { useAttempt } from '../use-attempt.ts';
import type { Kind } from './kinds.ts';

/** A new receiver as the form shows it. */
export interface ReceiverDraft {
  readonly kind: Kind;
  /** Undefined until one is typed: the kind is the name until then. */
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
  address: '',
  every: '',
  quietFrom: '',
  quietTo: '',
  maxPerHour: '',
};

export type NewReceiver = ReturnType<typeof useNewReceiver>;

/** A receiver that is being added. */
export function useNewReceiver() {
  const [draft, setDraft] = useState(EMPTY);
  const [isOpen, setOpen] = useState(false);
  const { error, attempt, forget } = useAttempt();
  const problems = problemsIn(error);
  const close = () => {
    setOpen(false);
    setDraft(EMPTY);
    forget();
  };
  return {
    draft,
    isOpen,
    open: () => setOpen(true),
    close,
    change: (part: Partial<ReceiverDraft>) => {
      setDraft((old) => ({ ...old, ...part }));
      forget();
    },
    /** Whether an address was typed. */
    isFilled: isOpen && draft.address.trim() !== '',
    problemOf: (field: string) => problems.find(({ path }) => path === field)?.message,
    /** Failure that belongs to no field. */
    error: problems.length === 0 ? error : undefined,
    /** Adds it. Resolves with undefined when the service refuses it, or while it is being added. */
    add: async (): Promise<Receiver | undefined> => {
      let added: Receiver | undefined;
      await attempt(async () => {
        added = (await call<Receiver>('/receivers', { method: 'POST', body: bodyOf(draft) })).data;
        close();
      });
      return added;
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

/** Returns the problems of the fields. An address that must not be dialled is refused with a message and no path. */
function problemsIn(error: unknown): readonly { readonly path: string; readonly message: string }[] {
  if (!(error instanceof CapstanFailure)) return [];
  if (error.code !== 'target_forbidden') return error.problems;
  return [{ path: 'address', message: error.message.replace(/^address: /, '') }];
}
