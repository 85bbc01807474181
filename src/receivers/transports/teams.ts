import type { Notice } from '../notice.ts';
import type { Transport } from '../transport.ts';
import { again, endOf, exchange, type HttpParts, refused } from './exchange.ts';
import { type LinkedImage, messenger } from './messenger.ts';
import { filled, shownLinks } from './plain-text.ts';

/*
 * Microsoft Teams: an Adaptive Card for a webhook of Workflows ("When a Teams webhook request is received").
 * https://learn.microsoft.com/microsoftteams/platform/task-modules-and-cards/cards/cards-reference#adaptive-card
 */

/**
 * A message has about 28 KB at most:
 * https://learn.microsoft.com/connectors/teams/#known-issues-and-limitations-with-actions
 */
const MAX_BYTES = 24_000;
const MAX = { about: 200, sentence: 3000, facts: 10, fact: 500 };
/** Buttons of a card: https://learn.microsoft.com/microsoftteams/platform/task-modules-and-cards/cards/cards-actions */
const MAX_ACTIONS = 6;

interface TeamsOptions extends HttpParts {
  readonly url: URL;
}

export function teamsTransport({ url, ...parts }: TeamsOptions): Transport {
  return messenger({
    loads: true,
    refusesImages: () => false,
    tell: async (notice, { links }, { signal }) => {
      const headers = { 'content-type': 'application/json' };
      const answer = await exchange({ url, headers, body: messageOf(notice, links) }, parts, signal);
      // Webhooks of connectors answer 200, and say in the body which error Teams has answered.
      const [, hidden] = answer.status === 200 ? (/returned HTTP error (\d{3})/.exec(answer.body) ?? []) : [];
      if (hidden === undefined) return endOf(answer);
      const reason = `the receiver answered 200, and Teams ${hidden}`;
      return hidden === '429' || hidden.startsWith('5') ? again(reason, 200) : refused(reason, 200);
    },
  });
}

/** Returns the message with as many images as fit. Teams takes no uploads: it loads images by their URLs. */
function messageOf(notice: Notice, images: readonly LinkedImage[]): string {
  const body = JSON.stringify(cardOf(notice, images));
  return images.length === 0 || Buffer.byteLength(body) <= MAX_BYTES ? body : messageOf(notice, images.slice(0, -1));
}

function cardOf({ about, sentence, isProblem, facts, links }: Notice, images: readonly LinkedImage[]) {
  const colour = isProblem ? 'Attention' : 'Default';
  return {
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          msteams: { width: 'Full' },
          body: [
            paragraph([{ ...run(about, MAX.about), weight: 'Bolder' }]),
            paragraph([{ ...run(sentence, MAX.sentence), color: colour }]),
            ...facts
              .slice(0, MAX.facts)
              .map(({ label, text }) =>
                paragraph([{ ...run(`${label}: `, MAX.fact), isSubtle: true }, run(text, MAX.fact)]),
              ),
            ...images.map(({ url, alt }) => ({ type: 'Image', url, altText: alt, msteams: { allowExpand: true } })),
          ],
          actions: shownLinks(links)
            .slice(0, MAX_ACTIONS)
            .map(({ label, url }) => ({ type: 'Action.OpenUrl', title: label, url })),
        },
      },
    ],
  };
}

function paragraph(inlines: readonly object[]) {
  return { type: 'RichTextBlock', inlines };
}

/**
 * Text runs have no Markdown, unlike a TextBlock:
 * https://learn.microsoft.com/adaptive-cards/authoring-cards/text-features
 */
function run(text: string, max: number) {
  return { type: 'TextRun', text: filled(text, max).replace(/[<{](?=[{/a-z])/gi, '$&\u2060') };
}
