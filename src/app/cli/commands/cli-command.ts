import type { Command } from 'commander';
import type { CliIo, ExitCode } from '../../terminal/cli-io.ts';
import { addHubFlags, type HubFlags } from '../flags/hub-flags.ts';

/** One `berth` command: its name, options, help with examples, and an action that returns an exit code. */
export interface CliCommand {
  /** Adds the command to the program; `run` wraps an action so that its exit code reaches the process. */
  readonly register: (program: Command, run: RunAction) => void;
}

/** Wraps the action of a command: awaits it and sets the exit code. Heavy modules are imported inside the action. */
export type RunAction = <A extends unknown[]>(
  action: (io: CliIo, ...args: A) => Promise<ExitCode>,
) => (...args: A) => Promise<void>;

/** The parent command `berth get`, `berth create` …. The first subcommand creates it. */
export function verbCommand(program: Command, name: string, description: string): Command {
  const existing = program.commands.find((command) => command.name() === name);
  return existing ?? program.command(name).description(description).addHelpText('after', helpOf);
}

/** The first example of each subcommand, so that the help of the verb shows what people type. */
function helpOf({ command }: { readonly command: Command }): string {
  const examples = command.commands.map(
    (child) => firstExample(child) ?? `berth ${command.name()} ${child.name()}`,
  );
  const lines = examples.map((example) => `  ${example}`);
  return `\nExit codes: 0 done, 1 error.\n\nExamples:\n${lines.join('\n')}\n`;
}

function firstExample(command: Command): string | undefined {
  const output = command.configureOutput();
  let text = '';
  command.configureOutput({ writeOut: (part) => void (text += part) }).outputHelp();
  command.configureOutput(output);
  return /\nExamples:\n {2}((?:.*\\\n)*.*)/.exec(text)?.[1];
}

/** Flags of the commands that read an Argo CD on the hub. */
export interface ArgocdFlags extends HubFlags {
  readonly argocdNamespace: string;
}

/** `berth argocd …` */
export function argocdCommand(program: Command): Command {
  return verbCommand(program, 'argocd', 'connect Argo CD with Berth, check it, and render ApplicationSets');
}

export function addArgocdFlags(command: Command): Command {
  return addHubFlags(command.option('--argocd-namespace <name>', 'namespace of Argo CD', 'argocd'));
}
