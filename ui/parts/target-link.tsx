import { safeHref } from './format.ts';

/** A captured URL: a link when it is http or https, and text in any case. */
export function TargetLink({ url }: { readonly url: string }) {
  const href = safeHref(url);
  if (href === undefined) return <span class="url">{url}</span>;
  return (
    <a class="url" href={href} target="_blank" rel="noreferrer noopener">
      {url}
    </a>
  );
}
