import { exactTechnology } from '../../../src/capture/finding/exact-technology.ts';
import type { GroupsAnswer } from '../../../src/http/answer/group-schemas.ts';
import { queryOf } from '../../api/client.ts';
import type { Result } from '../../api/types.ts';
import { counted, integer } from '../../parts/format.ts';
import { hrefOf } from '../../parts/route.ts';
import { Thumbnail } from '../../parts/thumbnail.tsx';
import { useAnswer } from '../../parts/use-answer.ts';
import { Empty, Problem } from '../../parts/view.tsx';
import { type Filters, groupsPath } from './filters.ts';

export const MAX_GROUPS = 200;
const MAX_TEXT_CHARACTERS = 200;
const THUMBNAIL_WIDTH = 280;

/** Values by which captures can be grouped, with their labels, and what to do when captures have no such value. */
export const GROUPINGS = [
  ['title', 'Title', 'have no title'],
  ['technology', 'Technology', 'name no software'],
  ['favicon', 'Favicon', 'have no favicon, or were made without it: ask for it with evidence: ["favicon"]'],
  ['certificate', 'Certificate', 'have no certificate'],
  ['perception', 'Look', 'have no perception hash: ask for it with evidence: ["perception_hash"]'],
] as const;
export type Grouping = (typeof GROUPINGS)[number][0];

export function groupingOf(text: string | null): Grouping {
  return GROUPINGS.find(([grouping]) => grouping === text)?.[0] ?? 'title';
}

/** The answer, with results as the rest of the interface has them. */
type Answered = Omit<GroupsAnswer, 'groups'> & {
  readonly groups: readonly (Omit<GroupsAnswer['groups'][number], 'example'> & { readonly example: Result })[];
};

type Answer = ReturnType<typeof useAnswer<Answered>>;

/** Counts what the captures have in common, while it is shown. */
export function useGroups(filters: Filters, by: Grouping, isShown: boolean): Answer {
  return useAnswer<Answered>(isShown ? groupsPath(filters, by, MAX_GROUPS) : undefined);
}

interface GroupsProps {
  readonly filters: Filters;
  readonly by: Grouping;
  readonly answer: Answer;
}

/** Shows a card for each group of captures, which leads to its captures. */
export function Groups({ filters, by, answer: { data, error, reload } }: GroupsProps) {
  if (error !== undefined) return <Problem error={error} retry={reload} />;
  if (data === undefined) return <p class="muted gallery-note">Counting captures …</p>;
  const { groups, results, without, omitted, truncated } = data;
  const lacks = GROUPINGS.find(([grouping]) => grouping === by)?.[2];
  return (
    <>
      <p class="muted gallery-note" aria-live="polite">
        {integer(groups.length + omitted)} groups of {integer(results)} captures
        {truncated && ', the newest'}.{omitted > 0 && ` The largest ${integer(groups.length)} are shown.`}
        {without > 0 && ` ${integer(without)} ${lacks}.`}
      </p>
      {groups.length === 0 && <Empty title="Nothing in common">{<p>No capture has such a value.</p>}</Empty>}
      <ul class="groups">
        {groups.map((group, index) => (
          <li key={group.value}>
            <a class="card group" href={membersOf(filters, by, group)} data-index={index} data-place={group.value}>
              <Thumbnail result={group.example} width={THUMBNAIL_WIDTH} />
              <span class="group-name" title={group.value}>
                {nameOf(by, group)}
              </span>
              <span class="group-count">
                {counted(group.count, 'capture')} of {counted(group.hosts, 'host')}
              </span>
            </a>
          </li>
        ))}
      </ul>
    </>
  );
}

type Group = Answered['groups'][number];

/** Returns the address of the list of a group's captures. That of a look shows one, and what is like it. */
function membersOf(filters: Filters, by: Grouping, { value, example }: Group): string {
  if (by === 'perception') return hrefOf(`/results/${example.id}`);
  if (by === 'title') return hrefOf(`/${queryOf({ ...filters, text: value.slice(0, MAX_TEXT_CHARACTERS) })}`);
  return hrefOf(`/${queryOf({ ...filters, [by]: value })}`);
}

function nameOf(by: Grouping, { value, example }: Group): string {
  switch (by) {
    case 'technology': {
      const { name, version } = example.host_facts?.technologies.find((each) => exactTechnology(each) === value) ?? {};
      return version === '' ? `${name}, version unknown` : `${name} ${version}`;
    }
    case 'certificate': {
      const { subject = '', issuer = '' } = example.host_facts?.certificate ?? {};
      return `${subject}, by ${issuer}`;
    }
    case 'favicon':
      return `Favicon of ${titleOf(example)}`;
    case 'perception':
      return titleOf(example);
    case 'title':
      return value;
  }
}

function titleOf({ title, host }: Result): string {
  return title.trim() === '' ? host : title;
}
