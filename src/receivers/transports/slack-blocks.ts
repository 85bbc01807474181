import { escapedHtml } from '../../capture/basics/html-text.ts';
import type { Notice } from '../notice.ts';
import type { LinkedImage } from './messenger.ts';
import { filled, plain, shownLinks, within } from './plain-text.ts';

/*
 * Messages in Slack's Block Kit. Texts stand in a `rich_text` block, where markup, mentions and links are elements of
 * their own and never parsed out of text: https://docs.slack.dev/reference/block-kit/blocks/rich-text-block/
 */

/** All blocks together have about 13,000 characters: https://github.com/slackapi/bolt-js/issues/2509. */
const MAX = { about: 200, sentence: 3000, facts: 10, fact: 500 };
/** https://docs.slack.dev/reference/block-kit/blocks/image-block/ */
const MAX_IMAGE_URL = 3000;
const MAX_FALLBACK = 1000;

export function blocksOf(
  { about, sentence, isProblem, facts, links }: Notice,
  images: readonly LinkedImage[],
): readonly object[] {
  const shown = shownLinks(links).map(({ label, url }) => ({ type: 'link', url, text: label }));
  const elements = [
    ...(isProblem ? [{ type: 'emoji', name: 'warning' }, text(' ')] : []),
    { ...text(filled(about, MAX.about)), style: { bold: true } },
    text(`\n${filled(sentence, MAX.sentence)}`),
    ...facts.slice(0, MAX.facts).map((fact) => text(`\n${fact.label}: ${filled(fact.text, MAX.fact)}`)),
    ...shown.flatMap((link, at) => [text(at === 0 ? '\n' : ' \u00b7 '), link]),
  ];
  return [
    { type: 'rich_text', elements: [{ type: 'rich_text_section', elements }] },
    ...images
      .filter(({ url }) => url.length <= MAX_IMAGE_URL)
      .map(({ url, alt }) => ({ type: 'image', image_url: url, alt_text: alt })),
  ];
}

function text(content: string) {
  return { type: 'text', text: content };
}

/**
 * Returns what notifications show in place of blocks. `&`, `<` and `>` are the control characters of Slack's markup:
 * https://docs.slack.dev/messaging/formatting-message-text/#escaping
 */
export function fallbackOf({ about, sentence }: Notice) {
  const line = within(plain(`${about}: ${sentence}`), MAX_FALLBACK);
  return {
    text: line.replace(/[&<>]/g, escapedHtml),
    mrkdwn: false,
    unfurl_links: false,
    unfurl_media: false,
  };
}
