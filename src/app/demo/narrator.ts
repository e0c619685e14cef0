import { styleText } from 'node:util';
import type { Clock } from '@berth/runtime/clock/clock';
import { printable } from '@berth/runtime/text/printable';
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
