import { useRef, useState } from 'preact/hooks';
import { type ApiRequest, curlCommand } from '../api/curl.ts';
import { needsKey } from '../api/session.ts';
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
            <Command key={command} text={command} />
          ))}
        </Dialog>
      )}
    </>
  );
}

function Command({ text }: { readonly text: string }) {
  const code = useRef<HTMLPreElement>(null);
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await copyText(text, code.current);
    setCopied(true);
  };
  return (
    <div class="command">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable with the keyboard */}
      <pre ref={code} tabIndex={0}>
        {text}
      </pre>
      <button type="button" class="button" onClick={copy}>
        <Icon name={isCopied ? 'check' : 'copy'} />
        {isCopied ? 'Copied' : 'Copy'}
      </button>
    </div>
  );
}

/** Browsers have a clipboard over TLS and on loopback only; elsewhere the text is selected, to be copied by hand. */
async function copyText(text: string, shown: HTMLElement | null): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    if (shown !== null) getSelection()?.selectAllChildren(shown);
  }
}
