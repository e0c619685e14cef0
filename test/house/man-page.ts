import type { Command, Option } from 'commander';

/** What the page says besides the commands. */
export interface ManPage {
  readonly program: Command;
  /** What `berth COMMAND --help` prints behind the options: exit codes and examples. */
  readonly helpBelow: (words: readonly string[]) => Promise<string>;
}

/** The manual page of a program in the macros of man(7). Each command that does something has a part of its own. */
export async function manPage({ program, helpBelow }: ManPage): Promise<string> {
  const name = program.name();
  const parts: string[] = [];
  for (const { words, command } of leavesOf(program, [])) parts.push(await part(words, command, helpBelow));
  return [
    '.\\" Generated from the help of the commands: UPDATE_GOLDEN=1 npx vitest run test/house/man-page',
    `.TH ${name.toUpperCase()} 1`,
    '.SH NAME',
    `${name} \\- ${roff(program.description())}`,
    '.SH SYNOPSIS',
    `.B ${name}`,
    '.I command',
    '[options]',
    '.SH DESCRIPTION',
    roff(
      'Each command has its own help: add --help. Commands that read a hub use the kubeconfig of kubectl. The documentation is in docs/README.md of the package.',
    ),
    '.SH COMMANDS',
    ...parts,
    '.SH ENVIRONMENT',
    ...definition('KUBECONFIG', 'kubeconfig of the hub, as for kubectl'),
    ...definition('NO_COLOR', 'no colours'),
    ...definition('BERTH_HOME', 'where background processes of init and join have their files'),
    ...definition('BERTH_DEBUG', 'prints where an unexpected error comes from'),
    '.SH "SEE ALSO"',
    '.BR kubectl (1),',
    '.BR git (1)',
    '',
  ].join('\n');
}

function leavesOf(
  command: Command,
  words: readonly string[],
): readonly { readonly words: readonly string[]; readonly command: Command }[] {
  return command.commands.flatMap((child) => {
    const own = [...words, child.name()];
    return child.commands.length > 0 ? leavesOf(child, own) : [{ words: own, command: child }];
  });
}

async function part(
  words: readonly string[],
  command: Command,
  helpBelow: ManPage['helpBelow'],
): Promise<string> {
  const args = command.registeredArguments.map((one) =>
    one.required ? `<${one.name()}>` : `[${one.name()}]`,
  );
  const options = command.createHelp().visibleOptions(command);
  const below = (await helpBelow(words)).trim();
  return [
    `.SS "${roff(['berth', ...words, ...args].join(' '))}"`,
    roff(`${command.description()}.`),
    ...(command.aliases().length === 0 ? [] : ['.PP', roff(`Also: ${command.aliases().join(', ')}.`)]),
    ...options
      .filter(({ long }) => long !== '--help')
      .flatMap((option) => definition(option.flags, describeOption(option))),
    ...(below === '' ? [] : ['.PP', '.nf', ...below.split('\n').map(roff), '.fi']),
  ].join('\n');
}

function describeOption({ description, argChoices, defaultValue }: Option): string {
  const choices = argChoices === undefined ? '' : ` (${argChoices.join(', ')})`;
  const isPlain = defaultValue === undefined || defaultValue === false || Array.isArray(defaultValue);
  return `${description}${choices}${isPlain ? '' : ` (default: ${String(defaultValue)})`}`;
}

function definition(term: string, text: string): readonly string[] {
  return ['.TP', `.B "${roff(term)}"`, roff(text)];
}

/** A line of text without a meaning in roff. */
function roff(text: string): string {
  const escaped = text.replaceAll('\\', '\\e').replaceAll('-', '\\-').replaceAll('"', '\\(dq');
  return /^[.']/.test(escaped) ? `\\&${escaped}` : escaped;
}
