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

export type Subjects = ReturnType<typeof subjectsOf>;

/** The owner of events of keys without a name. */
const NOBODY = '-';

/** Names of keys may have dots, which separate the tokens of a subject. */
function ownerOf(apiKey: string | null): string {
  return apiKey === null ? NOBODY : Buffer.from(apiKey).toString('base64url');
}

export function subjectsOf(name: string) {
  return {
    /** The stream of places. */
    places: `${name}-places`,
    /** Returns the subject that matches all places of an api node. */
    placesOf: (node: string) => `${name}.place.${node}.*`,
    place: (node: string, id: number) => `${name}.place.${node}.${id}`,
    /** The stream of tickets. */
    stream: `${name}-work`,
    consumer: 'workers',
    /** Returns the subject that matches all tickets of an api node. */
    workOf: (node: string) => `${name}.work.${node}.*`,
    work: (node: string, id: number) => `${name}.work.${node}.${id}`,
    node: (node: string) => `${name}.node.${node}`,
    worker: (worker: string) => `${name}.worker.${worker}`,
    /** Where other api nodes ask an api node. */
    ask: (node: string) => `${name}.ask.${node}`,
    alive: `${name}.alive`,
    limits: `${name}.limits`,
    /** Returns what the subjects of answers begin with. */
    inbox: (role: string) => `${name}.inbox.${role}`,
    /** The stream of events, and the subjects of its messages and of those that NATS republishes. */
    events: `${name}-events`,
    allEvents: `${name}.events.>`,
    logged: `${name}.logged.>`,
    /** `apiKey`: the name of the API key whose event it is; null without a name. */
    eventBy: (writer: string, apiKey: string | null) => `${name}.events.by.${writer}.${ownerOf(apiKey)}`,
    eventOf: (key: string, apiKey: string | null) => `${name}.events.of.${key}.${ownerOf(apiKey)}`,
    /** Returns the subject that matches all events of a writer, except those that are stored once. */
    eventsBy: (writer: string) => `${name}.events.by.${writer}.*`,
    /** Returns the subject that matches all events of an owner, the token of an API key. */
    eventsOf: (owner: string) => `${name}.events.*.*.${owner}`,
    /** Returns the owner in the subject of an event. */
    ownerIn: (subject: string) => subject.slice(subject.lastIndexOf('.') + 1),
    keyOf: (owner: string) => (owner === NOBODY ? null : Buffer.from(owner, 'base64url').toString()),
  };
}

/** Returns the api node and the capture that a ticket's subject names. */
export function ticketOf(subject: string): { readonly node: string; readonly id: number } {
  const [, , node = '', id = ''] = subject.split('.');
  return { node, id: Number(id) };
}
