import { styleText } from 'node:util';
import { explainPlacement } from '@berth/placement/explain/explain-placement';
import { decideInSnapshot } from '@berth/placement/explain/verdict/decide-in-snapshot';
import type { Clock } from '@berth/runtime/clock/clock';
import { errorText } from '@berth/runtime/errors';
import { formatLocation } from '@berth/runtime/problem/source-location';
import { printable } from '@berth/runtime/text/printable';
import type { ControllerEvent } from '../../controllers/events/controller-events.ts';
import type { CliIo } from '../terminal/cli-io.ts';
import { writePainted } from '../terminal/terminal-output.ts';

/** Prints the steps of the demo line by line: the time since the start, the component, and what happened. */
export interface Narrator {
  /** A heading of the next part of the demo. */
  chapter(title: string): void;
  print(topic: NarratorTopic, text: string): void;
  /** A detail of the previous line. */
  detail(text: string): void;
  /** Preformatted text: tables, JSON, commands to copy. */
  block(text: string): void;
}

export type NarratorTopic =
  | 'hub'
  | 'cluster'
  | 'git'
  | 'commit'
  | 'decide'
  | 'publish'
  | 'work'
  | 'agent'
  | 'argocd'
  | 'preview'
  | 'problem';

const TOPIC_COLOURS: Readonly<
  Record<NarratorTopic, 'blue' | 'cyan' | 'green' | 'magenta' | 'yellow' | 'red'>
> = {
  hub: 'blue',
  cluster: 'blue',
  git: 'cyan',
  commit: 'cyan',
  decide: 'yellow',
  publish: 'green',
  work: 'green',
  agent: 'magenta',
  argocd: 'blue',
  preview: 'yellow',
  problem: 'red',
};

const TOPIC_WIDTH = 8;
const TIME_WIDTH = 6;

export function createNarrator(io: Pick<CliIo, 'stdout' | 'colour'>, clock: Clock): Narrator {
  const startMs = clock.now();
  const paint = (style: Parameters<typeof styleText>[0], text: string) =>
    io.colour ? styleText(style, text) : text;
  const write = (line: string): void => writePainted(io.stdout, `${line}\n`);
  const indent = ' '.repeat(TIME_WIDTH + 2 + TOPIC_WIDTH + 2);
  return {
    chapter: (title) => write(`\n${paint('bold', title)}`),
    print: (topic, text) => {
      const elapsed = `${((clock.now() - startMs) / 1000).toFixed(1)}s`.padStart(TIME_WIDTH);
      write(
        `${paint('dim', elapsed)}  ${paint(TOPIC_COLOURS[topic], topic.padEnd(TOPIC_WIDTH))}  ${printable(text)}`,
      );
    },
    detail: (text) => write(`${indent}${printable(text)}`),
    block: (text) => {
      for (const line of text.replace(/\n$/, '').split('\n')) write(`${indent}${printable(line)}`);
    },
  };
}

/** Describes what the controller did. */
export function narrateControllerEvent(narrator: Narrator, event: ControllerEvent): void {
  switch (event.kind) {
    case 'commit-read':
      narrateCommit(narrator, event);
      return;
    case 'synced':
      narrator.print(
        'git',
        `hub follows Git: ${count(event.applied, 'object')} written, ${event.unchanged} unchanged, ${event.pruned} removed`,
      );
      return;
    case 'deleted':
      narrator.print('git', `${event.record.object} was removed from Git, and so deleted from the hub`);
      return;
    case 'withdrawn':
      narrator.print('git', `${event.object} was removed from Git, and stays: it ${event.because}`);
      return;
    case 'hub-restored':
      narrator.print(
        'hub',
        `the hub was ${event.how}: Berth compares it with Git before it decides anything`,
      );
      return;
    case 'sync-problem':
      narrator.print(
        'problem',
        `${event.object}: ${event.message}${event.location === undefined ? '' : ` (${event.location})`}`,
      );
      return;
    case 'published':
      narrator.print(
        'publish',
        `${event.placement}: PlacementDecisions say ${listOf(event.clusters)}${changeText(event.added, event.removed)}`,
      );
      return;
    case 'pull-held':
      narrator.print('problem', `${event.group}: ${event.message}`);
      return;
    case 'pulled-work-written':
      narrator.print('work', `${event.application}: work ${event.action} for ${event.cluster}`);
      return;
    case 'held':
      narrator.print('problem', `${event.placement} is held: ${event.message}`);
      return;
    case 'work-written':
      narrator.print(
        'work',
        `${event.replicaSet}: ManifestWork ${event.cluster}/${event.work} ${event.action}`,
      );
      return;
    case 'application-set-refreshed':
      narrator.print('argocd', `ApplicationSet ${event.applicationSet}: refresh ${event.outcome}`);
      return;
    case 'cluster-secret-written':
      narrator.print('argocd', `cluster ${event.cluster}: Secret ${event.secret} ${event.action}`);
      return;
    case 'error':
      narrator.print('problem', `${event.where}: ${errorText(event.error)}`);
      return;
    case 'decided':
      narrateDecision(narrator, event);
      return;
    // The demo does not enable these.
    case 'application-set-waves':
    case 'registration':
    case 'add-on':
    case 'ready':
      return;
  }
}

function narrateCommit(narrator: Narrator, event: Extract<ControllerEvent, { kind: 'commit-read' }>): void {
  const { commit, files, objects, problems } = event;
  const what =
    commit === undefined
      ? 'working tree'
      : `${commit.id.slice(0, 8)} "${commit.subject}" by ${commit.author.name}`;
  narrator.print('commit', `${what}: ${count(files, 'file')}, ${count(objects, 'object')}`);
  for (const { severity, location, message } of problems)
    narrator.print(
      'problem',
      `${severity}: ${location === undefined ? '' : `${formatLocation(location)}: `}${message}`,
    );
}

function changeText(added: readonly string[], removed: readonly string[]): string {
  const signs = [...added.map((name) => `+${name}`), ...removed.map((name) => `-${name}`)];
  return signs.length === 0 ? '' : `  (${signs.join(' ')})`;
}

function listOf(clusters: readonly string[]): string {
  return clusters.length === 0 ? 'no cluster' : clusters.join(', ');
}

function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? '' : 's'}`;
}

/** Describes a decision that changed something, with the reason why each cluster was selected or not. */
function narrateDecision(narrator: Narrator, event: Extract<ControllerEvent, { kind: 'decided' }>): void {
  const { placement, added, removed, snapshot } = event;
  if (added.length === 0 && removed.length === 0) return;
  const [namespace = '', name = ''] = placement.split('/');
  const decision = decideInSnapshot(snapshot, { namespace, name });
  if (decision === undefined) return;
  const { summary, selected, refusals } = explainPlacement(decision.snapshot, decision.decided);
  narrator.print('decide', `${placement}: ${summary}`);
  for (const { cluster, score } of selected) {
    const parts = score.parts.map(
      ({ prioritizer, score: points, weight }) => `${prioritizer} ${points}×${weight}`,
    );
    narrator.detail(
      `+ ${cluster}: rank ${score.rank} of ${score.of} with ${score.total} points (${parts.join(', ')})`,
    );
  }
  for (const { clusters, text } of refusals) narrator.detail(`- ${clusters.join(', ')}: ${text}`);
}
