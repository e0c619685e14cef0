import type { Command } from 'commander';

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
