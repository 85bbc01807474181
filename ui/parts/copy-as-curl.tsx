import { useState } from 'preact/hooks';
import { type ApiRequest, curlCommand } from '../api/curl.ts';
import { needsKey } from '../api/session.ts';
import { Copyable } from './copyable.tsx';
import { Dialog } from './dialog.tsx';
import { Icon } from './icon.tsx';

/** A button that shows the requests behind a view as commands. */
export function CopyAsCurl({ requests }: { readonly requests: () => readonly ApiRequest[] }) {
  const [shown, setShown] = useState<readonly string[]>();
  const show = () => setShown(requests().map((request) => curlCommand(request, needsKey.value === true)));
  return (
    <>
      <button type="button" class="button" aria-label="Copy as curl" onClick={show}>
        <Icon name="terminal" />
        <span class="wide-only">Copy as curl</span>
        <span class="narrow-only">curl</span>
      </button>
      {shown !== undefined && (
        <Dialog title="Copy as curl" onClose={() => setShown(undefined)}>
          <p class="muted">Everything on this page comes from the HTTP API. The same with curl:</p>
          {shown.map((command) => (
            <Copyable key={command} text={command} />
          ))}
        </Dialog>
      )}
    </>
  );
}
