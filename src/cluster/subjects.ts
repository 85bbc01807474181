/*
 * Subjects of a cluster, all below its name:
 *
 *   <name>.place.<api node>.<capture id>  places of single captures, in the stream of places
 *   <name>.work.<api node>.<capture id>   tickets, in the stream of work
 *   <name>.node.<api node>                requests of workers to an api node
 *   <name>.worker.<worker>                requests of api nodes to a worker
 *   <name>.ask.<api node>                 questions of other api nodes
 *   <name>.alive                          announcements of all processes
 *   <name>.inbox.<role>.>                 answers to the requests of processes with a role
 *   <name>.limits                         tells api nodes to read the limits again
 *   <name>.events.by.<writer>.<owner>     events of an API key, in the stream of events
 *   <name>.events.of.<key>.<owner>        events that are stored once, in the same stream
 *   <name>.logged.>                       the same events with their sequence numbers, as NATS republishes them
 */

export interface Subjects {
  /** The stream of places. */
  readonly places: string;
  /** Returns the subject that matches all places of an api node. */
  placesOf(node: string): string;
  place(node: string, id: number): string;
  /** The stream of tickets. */
  readonly stream: string;
  readonly consumer: string;
  /** Returns the subject that matches all tickets of an api node. */
  workOf(node: string): string;
  work(node: string, id: number): string;
  node(node: string): string;
  worker(worker: string): string;
  /** Where other api nodes ask an api node. */
  ask(node: string): string;
  readonly alive: string;
  readonly limits: string;
  /** Returns what the subjects of answers begin with. */
  inbox(role: string): string;
  /** The stream of events, and the subjects of its messages and of those that NATS republishes. */
  readonly events: string;
  readonly allEvents: string;
  readonly logged: string;
  /** `apiKey`: the name of the API key whose event it is; null without a name. */
  eventBy(writer: string, apiKey: string | null): string;
  eventOf(key: string, apiKey: string | null): string;
  /** Returns the subject that matches all events of a writer, except those that are stored once. */
  eventsBy(writer: string): string;
  /** Returns the subject that matches all events of an owner, the token of an API key. */
  eventsOf(owner: string): string;
  /** Returns the owner in the subject of an event. */
  ownerIn(subject: string): string;
  keyOf(owner: string): string | null;
}

/** The owner of events of keys without a name. */
const NOBODY = '-';

/** Names of keys may have dots, which separate the tokens of a subject. */
function ownerOf(apiKey: string | null): string {
  return apiKey === null ? NOBODY : Buffer.from(apiKey).toString('base64url');
}

export function subjectsOf(name: string): Subjects {
  return {
    places: `${name}-places`,
    placesOf: (node) => `${name}.place.${node}.*`,
    place: (node, id) => `${name}.place.${node}.${id}`,
    stream: `${name}-work`,
    consumer: 'workers',
    workOf: (node) => `${name}.work.${node}.*`,
    work: (node, id) => `${name}.work.${node}.${id}`,
    node: (node) => `${name}.node.${node}`,
    worker: (worker) => `${name}.worker.${worker}`,
    ask: (node) => `${name}.ask.${node}`,
    alive: `${name}.alive`,
    limits: `${name}.limits`,
    inbox: (role) => `${name}.inbox.${role}`,
    events: `${name}-events`,
    allEvents: `${name}.events.>`,
    logged: `${name}.logged.>`,
    eventBy: (writer, apiKey) => `${name}.events.by.${writer}.${ownerOf(apiKey)}`,
    eventOf: (key, apiKey) => `${name}.events.of.${key}.${ownerOf(apiKey)}`,
    eventsBy: (writer) => `${name}.events.by.${writer}.*`,
    eventsOf: (owner) => `${name}.events.*.*.${owner}`,
    ownerIn: (subject) => subject.slice(subject.lastIndexOf('.') + 1),
    keyOf: (owner) => (owner === NOBODY ? null : Buffer.from(owner, 'base64url').toString()),
  };
}

/** Returns the api node and the capture that a ticket's subject names. */
export function ticketOf(subject: string): { readonly node: string; readonly id: number } {
  const [, , node = '', id = ''] = subject.split('.');
  return { node, id: Number(id) };
}
