import type { Command } from 'commander';

/** The parent command `berth get`, `berth create` …. The first subcommand creates it. */
export function verbCommand(program: Command, name: string, description: string): Command {
  const existing = program.commands.find((command) => command.name() === name);
  return existing ?? program.command(name).description(description).addHelpText('after', helpOf);
}

function helpOf({ command }: { readonly command: Command }): string {
  const examples = command.commands.map((child) => `  berth ${command.name()} ${child.name()} --help`);
  return `\nExit codes: 0 done, 1 error.\n\nExamples:\n${examples.join('\n')}\n`;
}
