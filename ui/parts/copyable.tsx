import { useRef, useState } from 'preact/hooks';
import { Icon } from './icon.tsx';

/** A text with a button that copies it. */
export function Copyable({ text }: { readonly text: string }) {
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
