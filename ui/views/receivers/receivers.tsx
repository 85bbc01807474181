import { useEffect } from 'preact/hooks';
import { subscribe } from '../../api/events.ts';
import { mayCapture } from '../../api/session.ts';
import type { Receiver } from '../../api/types.ts';
import { CopyAsCurl } from '../../parts/copy-as-curl.tsx';
import { ReceiverFields } from '../../parts/receivers/receiver-fields.tsx';
import { useNewReceiver } from '../../parts/receivers/use-new-receiver.ts';
import { useAnswer } from '../../parts/use-answer.ts';
import { Empty, Problem, View } from '../../parts/view.tsx';
import { ReceiverRow } from './receiver-row.tsx';

const PATH = '/receivers';
/** Delay before the list is read again after a message has ended, in milliseconds: many can end at once. */
const AFTER_MESSAGE_MS = 500;

/** The receivers of the caller and of the operator, with the messages that wait for them. */
export function Receivers() {
  const { data, error, reload } = useAnswer<readonly Receiver[]>(PATH);
  const adding = useNewReceiver();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const end = subscribe(({ type }) => {
      if (type !== 'message.delivered' && type !== 'message.failed' && type !== 'gap') return;
      timer ??= setTimeout(() => {
        timer = undefined;
        reload();
      }, AFTER_MESSAGE_MS);
    });
    return () => {
      end();
      clearTimeout(timer);
    };
  }, [reload]);
  return (
    <View
      title="Receivers"
      class="receivers"
      actions={
        <>
          {mayCapture.value && !adding.isOpen && (
            <button type="button" class="button primary" onClick={adding.open}>
              Add a receiver
            </button>
          )}
          <CopyAsCurl requests={() => [{ path: PATH }]} />
        </>
      }
    >
      <div class="view-body" aria-busy={data === undefined && error === undefined}>
        {adding.isOpen && (
          <section class="panel receiver-adding">
            <h2>Add a receiver</h2>
            <ReceiverFields adding={adding} onAdded={reload} />
          </section>
        )}
        {error !== undefined && <Problem error={error} retry={reload} />}
        {data?.length === 0 && !adding.isOpen && (
          <Empty title="No receivers">
            <p>A receiver is a chat, a mailbox or a program that watches tell of changes.</p>
          </Empty>
        )}
        {data?.map((receiver) => (
          <ReceiverRow key={`${receiver.api_key_name} ${receiver.name}`} receiver={receiver} onChange={reload} />
        ))}
      </div>
    </View>
  );
}
