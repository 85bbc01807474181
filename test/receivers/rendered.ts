import { parse as parseDiscord } from 'discord-markdown-parser';
import { Parser } from 'htmlparser2';
import { LinkifyIt } from 'linkify-it';
import type { DiscordMessage } from '../support/receivers/discord.ts';
import type { GotMail } from '../support/receivers/mail.ts';
import type { NtfyMessage } from '../support/receivers/ntfy.ts';
import type { SlackMessage } from '../support/receivers/slack.ts';
import type { TeamsCard } from '../support/receivers/teams.ts';

/* Renders messages as their services show them to a reader: the text, and all that is more than text. */

export interface Rendered {
  readonly text: string;
  readonly links: readonly string[];
  /** Names of all else: bold text, mentions, emoji, headings, images. */
  readonly markup: readonly string[];
}

const linkify = new LinkifyIt({ fuzzyLink: true, fuzzyEmail: true, fuzzyIP: true }).tlds('рф', true).tlds('de', true);
linkify.add('tel:', { validate: (text, at) => /^\+?\d+/.exec(text.slice(at))?.[0].length ?? 0 });

/** Finds the texts that a program would make links of. */
function found(text: string): string[] {
  return linkify.match(text)?.map(({ url }) => url) ?? [];
}

/** https://docs.slack.dev/messaging/formatting-message-text/ */
function renderMrkdwn(text: string, isMarkup: boolean): Rendered {
  const links: string[] = [];
  const markup: string[] = [];
  const without = text.replace(/<([^<>]*)>/g, (_, inner: string) => {
    const [target = '', label] = inner.split('|');
    if (/^[@#!]/.test(target)) markup.push(target);
    else links.push(target);
    return label ?? target;
  });
  if (isMarkup) markup.push(...(without.match(/(?<!\w)([*_~`])(?=\S).+?\1(?!\w)/g) ?? []));
  const entities: Readonly<Record<string, string>> = { '&lt;': '<', '&gt;': '>', '&amp;': '&' };
  return { text: without.replace(/&(?:lt|gt|amp);/g, (entity) => entities[entity] ?? ''), links, markup };
}

export function renderSlack({ blocks, text, mrkdwn }: SlackMessage): Rendered {
  const fallback = renderMrkdwn(text, mrkdwn);
  const elements = blocks.flatMap((block) =>
    block.type === 'rich_text' ? block.elements.flatMap(({ elements }) => elements) : [],
  );
  return {
    text: elements.map((element) => (element.type === 'text' ? element.text : '')).join(''),
    links: [...elements.flatMap((element) => (element.type === 'link' ? [element.url] : [])), ...fallback.links],
    markup: [...elements.flatMap(({ type }) => (type === 'text' || type === 'link' ? [] : [type])), ...fallback.markup],
  };
}

interface Node {
  readonly type: string;
  readonly content?: unknown;
  readonly target?: unknown;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value;
}

function renderMarkdown(text: string): Rendered {
  const links: string[] = [];
  const markup: string[] = [];
  const walk = (value: unknown): string => {
    if (typeof value === 'string') return value;
    if (Array.isArray(value)) return value.map(walk).join('');
    if (!isNode(value)) return '';
    if (value.type === 'br') return '\n';
    if (value.type === 'url' || value.type === 'link' || value.type === 'autolink') links.push(String(value.target));
    else if (value.type !== 'text') markup.push(value.type);
    return walk(value.content);
  };
  const shown = walk(parseDiscord(text, 'extended'));
  return { text: shown, links, markup };
}

export function renderDiscord({ embeds, content }: DiscordMessage): Rendered {
  const texts = embeds.flatMap(({ title = '', description = '', fields = [] }) => [
    ...[title, description],
    ...fields.map(({ value }) => value),
  ]);
  const all = [content ?? '', ...texts].map(renderMarkdown);
  return {
    text: all.map(({ text }) => text).join('\n'),
    links: all.flatMap(({ links }) => links),
    markup: all.flatMap(({ markup }) => markup),
  };
}

/** https://learn.microsoft.com/adaptive-cards/authoring-cards/text-features: markup is in text blocks alone. */
export function renderTeams({ body, actions, msteams }: TeamsCard): Rendered {
  const text = body
    .map((item) => (item.type === 'RichTextBlock' ? item.inlines.map((run) => run.text).join('') : ''))
    .join('\n');
  const functions = text.match(/\{\{(?:DATE|TIME)\(.*?\)\}\}|<at[^>]*>.*?<\/at>|[$@]\{(?=\S)/g) ?? [];
  return {
    text,
    links: actions.map(({ url }) => url),
    markup: [
      ...body.flatMap(({ type }) => (type === 'TextBlock' ? [type] : [])),
      ...(msteams.entities === undefined ? [] : ['mention']),
      ...functions.filter((one) => !one.endsWith('{')),
    ],
  };
}

/** Apps show plain text, and make links of what looks like one. */
export function renderNtfy({ message, title = '' }: NtfyMessage): Rendered {
  return { text: `${title}\n${message}`, links: [...found(message), ...found(title)], markup: [] };
}

export function renderMailText({ mail }: GotMail): Rendered {
  return { text: mail.text ?? '', links: found(mail.text ?? ''), markup: [] };
}

const PLAIN_ELEMENTS = ['html', 'head', 'meta', 'body', 'p', 'strong', 'img', 'a'];

export function renderMailHtml({ mail }: GotMail): Rendered {
  let text = '';
  let isInLink = false;
  const links: string[] = [];
  const markup: string[] = [];
  const parser = new Parser({
    onopentag(name, attributes) {
      const isPlain =
        PLAIN_ELEMENTS.includes(name) && !Object.keys(attributes).some((attribute) => attribute.startsWith('on'));
      if (!isPlain) markup.push(name);
      if (name === 'a') links.push(attributes.href ?? '');
      if (name === 'img' && !attributes.src?.startsWith('cid:')) markup.push('img');
      isInLink = name === 'a';
    },
    ontext(data) {
      text += data;
      if (!isInLink) links.push(...found(data));
    },
    onclosetag() {
      isInLink = false;
    },
  });
  parser.end(mail.html ?? '');
  return { text, links, markup };
}
