import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { mayCapture } from '../../api/session.ts';
import type { Receiver, ReceiverTest } from '../../api/types.ts';
import { Badge } from '../../parts/badge.tsx';
import { DeleteButton } from '../../parts/delete-button.tsx';
import { ago, counted, dateAndTime, duration } from '../../parts/format.ts';
import { nameOfKind } from '../../parts/receivers/kinds.ts';
import { useAttempt } from '../../parts/use-attempt.ts';
import { Problem } from '../../parts/view.tsx';
import { DeadLetters } from './dead-letters.tsx';

interface ReceiverRowProps {
  readonly receiver: Receiver;
  /** Called when the receiver was deleted, or its messages have changed. */
  readonly onChange: () => void;
}

export function ReceiverRow({ receiver, onChange }: ReceiverRowProps) {
  const { name, kind, problem, host, is_operator: isOperator, is_own: isOwn, waiting, dead, last } = receiver;
  const [isListing, setListing] = useState(false);
  const [test, setTest] = useState<ReceiverTest>();
  const { error, isRunning, attempt } = useAttempt();
  // An administrator also sees receivers of other keys. By name, only its own ones can be used.
  const mayUse = isOwn || isOperator;
  const send = () =>
    attempt(async () => {
      setTest(undefined);
      setTest((await call<ReceiverTest>(`/receivers/${name}/test`, { method: 'POST' })).data);
    });
  const remove = async () => {
    await call(`/receivers/${name}`, { method: 'DELETE' });
    onChange();
  };
  return (
    <article class="panel receiver" aria-label={name}>
      <header>
        <h2>{name}</h2>
        <Badge tone="plain">{nameOfKind(kind)}</Badge>
        {isOperator && (
          <Badge tone="plain" title="The operator configured it, for all keys.">
            of the operator
          </Badge>
        )}
        {!mayUse && receiver.api_key_name !== undefined && <Badge tone="plain">{receiver.api_key_name}</Badge>}
      </header>
      <p class="muted receiver-facts">
        <span>{host}</span>
        {paceOf(receiver).map((words) => (
          <span key={words}>{words}</span>
        ))}
      </p>
      {problem !== null && <p class="receiver-facts">Its messages are given up: {problem}.</p>}
      <p class="receiver-facts">
        <span>{waiting === 0 ? 'Nothing waits.' : `${counted(waiting, 'message')} waiting.`}</span>
        {last === null ? (
          <span class="muted">Nothing was sent yet.</span>
        ) : (
          <span title={dateAndTime(last.at)}>
            Last {last.delivered ? 'delivered' : 'attempt failed'} {ago(last.at)}
            {last.reason === null ? '.' : `: ${last.reason}.`}
          </span>
        )}
        {dead > 0 && <Badge tone="bad">{counted(dead, 'dead letter')}</Badge>}
      </p>
      <div class="receiver-buttons">
        {mayCapture.value && mayUse && (
          <button
            type="button"
            class="button"
            aria-label={`Send a test to ${name}`}
            disabled={isRunning}
            onClick={() => void send()}
          >
            Send a test
          </button>
        )}
        {mayUse && (dead > 0 || isListing) && (
          <button
            type="button"
            class="button"
            aria-expanded={isListing}
            aria-label={`Dead letters of ${name}`}
            onClick={() => setListing(!isListing)}
          >
            Dead letters
          </button>
        )}
        {mayCapture.value && isOwn && (
          <DeleteButton label={`Delete ${name}`} title="Delete the receiver?" onDelete={remove}>
            “{name}” is told nothing more, and what waits for it is deleted.
          </DeleteButton>
        )}
      </div>
      <p role="status" class="receiver-test">
        {isRunning ? <span class="muted">Sending …</span> : test && <TestEnd test={test} />}
      </p>
      {error !== undefined && <Problem error={error} />}
      {isListing && <DeadLetters name={name} count={dead} onRetried={onChange} />}
    </article>
  );
}

function TestEnd({ test: { delivered, status, reason } }: { readonly test: ReceiverTest }) {
  const answered = status === null ? '' : `, HTTP ${status}`;
  return (
    <>
      <Badge tone={delivered ? 'good' : 'bad'}>{delivered ? 'delivered' : 'not delivered'}</Badge>{' '}
      {delivered ? `The receiver took the sample${answered}.` : `${reason}`}
    </>
  );
}

/** Returns the pace of a receiver in words: digests, quiet hours and the limit. */
function paceOf({ every_ms: everyMs, quiet, max_per_hour: max }: Receiver): readonly string[] {
  return [
    ...(everyMs === null ? [] : [`a digest every ${duration(everyMs)}`]),
    ...(quiet === null ? [] : [`quiet ${quiet}`]),
    ...(max === null ? [] : [`at most ${max} an hour`]),
  ];
}
