import { Argument, type Command, type Option } from 'commander';
import type { CliCommand } from './cli-command.ts';

const HELP = `
Exit codes: 0 printed, 1 error.

Examples:
  berth completion bash > ~/.local/share/bash-completion/completions/berth
  berth completion zsh > ~/.zfunc/_berth                            # a folder of $fpath, before compinit
  berth completion fish > ~/.config/fish/completions/berth.fish
`;

/** One command, and what may follow it. */
interface Node {
  /** The words that lead to it: `berth get placements`. */
  readonly path: string;
  /** Subcommands, and flags: each with its description. */
  readonly words: readonly (readonly [word: string, description: string])[];
  /** Flags that take one of some values. */
  readonly choices: readonly (readonly [flag: string, values: readonly string[]])[];
  /** Other names of subcommands. */
  readonly aliases: readonly (readonly [alias: string, name: string])[];
}

type Shell = 'bash' | 'zsh' | 'fish';

export const completionCommand: CliCommand = {
  register(program, run) {
    program
      .command('completion')
      .description('print a script with which a shell completes commands and flags')
      .addArgument(new Argument('<shell>', 'the shell').choices(['bash', 'zsh', 'fish']))
      .addHelpText('after', HELP)
      .action(
        run((io, shell: Shell) => {
          io.stdout.write(SCRIPTS[shell](nodesOf(program, program.name())));
          return Promise.resolve(0);
        }),
      );
  },
};

function nodesOf(command: Command, path: string): readonly Node[] {
  const children = command.commands.filter((child) => child.name() !== 'help');
  // Those of the help: a command that runs another one by default has its flags, too.
  const options = command.createHelp().visibleOptions(command);
  const flagsOf = ({ long, short }: Option): readonly string[] => [long, short].filter((one) => one != null);
  const node: Node = {
    path,
    words: [
      ...children.map((child) => [child.name(), firstSentence(child.description())] as const),
      ...options.flatMap((option) =>
        option.long == null ? [] : [[option.long, firstSentence(option.description)] as const],
      ),
    ],
    choices: options.flatMap((option) =>
      option.argChoices === undefined
        ? []
        : flagsOf(option).map((flag) => [flag, option.argChoices ?? []] as const),
    ),
    aliases: children.flatMap((child) => child.aliases().map((alias) => [alias, child.name()] as const)),
  };
  return [node, ...children.flatMap((child) => nodesOf(child, `${path} ${child.name()}`))];
}

/** On one line, and without what has a meaning in a shell. */
function firstSentence(text: string): string {
  return (text.split(/[;:(]/)[0] ?? '')
    .replaceAll(/[\s]+/g, ' ')
    .replaceAll(/['"`$\\]/g, '')
    .trim();
}

const SCRIPTS: Readonly<Record<Shell, (nodes: readonly Node[]) => string>> = {
  bash: (nodes) => `# bash completion of berth
_berth() {
  local word place=berth current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]}
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
${indent(stepCases(nodes), 4)}
  done
  case "$place $previous" in
${indent(
  choiceCases(nodes, (values) => `COMPREPLY=($(compgen -W '${values.join(' ')}' -- "$current")); return`),
  4,
)}
  esac
  case $place in
${indent(
  nodes.map(
    ({ path, words }) =>
      `'${path}') COMPREPLY=($(compgen -W '${words.map(([word]) => word).join(' ')}' -- "$current")) ;;`,
  ),
  4,
)}
  esac
}
complete -o default -F _berth berth
`,
  zsh: (nodes) => `#compdef berth
_berth() {
  local word place=berth previous=\${words[CURRENT - 1]}
  local -a found
  for word in \${words[2,CURRENT - 1]}; do
${indent(stepCases(nodes), 4)}
  done
  case "$place $previous" in
${indent(
  choiceCases(nodes, (values) => `compadd -- ${values.join(' ')}; return`),
  4,
)}
  esac
  case $place in
${indent(
  nodes.map(
    ({ path, words }) =>
      `'${path}') found=(${words.map(([word, text]) => `'${word}:${text}'`).join(' ')}) ;;`,
  ),
  4,
)}
  esac
  _describe berth found
  _files
}
if [ "\${funcstack[1]}" = _berth ]; then _berth "$@"; else compdef _berth berth; fi
`,
  fish: (nodes) => `# fish completion of berth
function __berth_place
  set -l place berth
  for word in (commandline -opc)[2..-1]
    switch "$place $word"
${indent(
  nodes.flatMap(({ path, words, aliases }) => [
    ...words.flatMap(([word]) =>
      word.startsWith('-') ? [] : [`case '${path} ${word}'`, `  set place '${path} ${word}'`],
    ),
    ...aliases.flatMap(([alias, name]) => [`case '${path} ${alias}'`, `  set place '${path} ${name}'`]),
  ]),
  6,
)}
    end
  end
  echo $place
end
function __berth_at
  test (__berth_place) = "$argv[1]"
end
${nodes.flatMap(fishLines).join('\n')}
`,
};

/** Cases that follow the subcommands on the line. */
function stepCases(nodes: readonly Node[]): readonly string[] {
  const steps = nodes.flatMap(({ path, words, aliases }) => [
    ...words.filter(([word]) => !word.startsWith('-')).map(([word]) => [`${path} ${word}`, word] as const),
    ...aliases.map(([alias, name]) => [`${path} ${alias}`, name] as const),
  ]);
  return [
    'case "$place $word" in',
    ...steps.map(([typed, name]) => `  '${typed}') place="$place ${name}" ;;`),
    'esac',
  ];
}

function choiceCases(nodes: readonly Node[], then: (values: readonly string[]) => string): readonly string[] {
  return nodes.flatMap(({ path, choices }) =>
    choices.map(([flag, values]) => `'${path} ${flag}') ${then(values)} ;;`),
  );
}

function fishLines({ path, words, choices }: Node): readonly string[] {
  const at = `complete -c berth -n '__berth_at "${path}"'`;
  const valuesOf = new Map(choices);
  return words.map(([word, text]) => {
    if (!word.startsWith('--')) return `${at} -f -a '${word}' -d '${text}'`;
    const values = valuesOf.get(word);
    const taken = values === undefined ? '' : ` -x -a '${values.join(' ')}'`;
    return `${at} -l ${word.slice(2)}${taken} -d '${text}'`;
  });
}

function indent(lines: readonly string[], by: number): string {
  return lines.map((line) => ' '.repeat(by) + line).join('\n');
}
