import type { Command } from 'commander';
import { InputError } from '@berth/runtime/errors';
import type { KindInfo } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { KubeApi, ListOptions } from '@berth/kube/model/kube-api';
import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';
import { renderTextTable } from '../../../terminal/output-format.ts';
import { addHubFlags, type HubFlags, withHub } from '../../flags/hub-flags.ts';
import { wrongOption } from '../../flags/option-values.ts';
import type { DescribedSection } from '../../../../core/listing/describe-object.ts';
import { verbCommand, type CliCommand, type RunAction } from '../cli-command.ts';
import { checkGetOutput, getOutputOption, type ReadObjects, renderObjects, tableOf } from './get-output.ts';

export interface GetFlags extends HubFlags {
  /** Absent: the table for people. */
  readonly output?: string;
  readonly namespace?: string;
  readonly allNamespaces?: boolean;
  readonly selector?: string;
  readonly watch?: boolean;
}

export interface GetDefinition<Flags extends GetFlags> {
  /** The argument of `berth get`, such as `works`. */
  readonly plural: string;
  readonly aliases: readonly string[];
  /** The listed kind, and after it the others that the table is made from. */
  readonly kinds: readonly [KindInfo, ...KindInfo[]];
  /** What is listed, for errors. Default: the kind. */
  readonly noun?: string;
  /** By the plural of a kind: of which objects the table is made, if not of all. */
  readonly scopes?: Readonly<Record<string, ListOptions>>;
  readonly description: string;
  /** Lines of the help, without `berth get`. */
  readonly examples: readonly string[];
  /** Formats besides those of every `berth get`: `wide`, `clusteradm`. */
  readonly formats?: readonly string[];
  readonly addOptions?: (command: Command) => Command;
  /** By which an argument means an object. Default: its name. */
  readonly nameOf?: (object: KubeObject) => string;
  /** What `berth describe` shows beside the row, the conditions, the hold and the Events of an object. */
  readonly describe?: (hub: KubeApi, object: KubeObject) => Promise<readonly DescribedSection[]>;
  /** @param selection namespace and labels of the listed kind, by the flags */
  readonly read: (hub: KubeApi, flags: Flags, selection: ListOptions) => Promise<ReadObjects>;
}

/** `berth get` of a kind, which prints a table or the objects as the hub has them, and `berth describe` of the same objects. */
export function getCommand<Flags extends GetFlags>(definition: GetDefinition<Flags>): CliCommand {
  const { plural, aliases, description, examples, formats = [], kinds } = definition;
  const { addOptions = (command: Command) => command } = definition;
  return {
    register(program, run) {
      const command = verbCommand(program, 'get', 'list objects of the hub')
        .command(`${plural} [name]`)
        .aliases([...aliases])
        .description(description);
      if (kinds[0].namespaced)
        command
          .option('-n, --namespace <name>', 'only this namespace (default: all)')
          .option('-A, --all-namespaces', 'all namespaces, as without this flag');
      command
        .option('-l, --selector <labels>', 'only objects with these labels: a=b, a!=b, a, a in (b,c)')
        .option('-w, --watch', 'go on and print what changes, until stopped')
        .addOption(getOutputOption(formats));
      addHubFlags(addOptions(command))
        .addHelpText('after', helpText(examples))
        .action(run((io, name: string | undefined, flags: Flags) => get(io, name, flags, definition)));
      addDescribe(program, run, definition);
    },
  };
}

function addDescribe<Flags extends GetFlags>(
  program: Command,
  run: RunAction,
  definition: GetDefinition<Flags>,
): void {
  const { plural, aliases, kinds, addOptions = (command: Command) => command } = definition;
  const [word = plural] = aliases;
  const command = verbCommand(program, 'describe', 'say what objects of the hub are, wait for and did')
    .command(`${word} <name>`)
    .aliases([plural])
    .description(
      `describe ${definition.noun ?? kinds[0].kind}s of this name: state, holds, conditions, Events`,
    );
  if (kinds[0].namespaced)
    command.option('-n, --namespace <name>', 'only in this namespace (default: in all)');
  addHubFlags(addOptions(command))
    .addHelpText('after', `\nExit codes: 0 described, 1 error.\n\nExamples:\n  berth describe ${word} NAME\n`)
    .action(run((io, name: string, flags: Flags) => describe(io, name, flags, definition)));
}

function helpText(examples: readonly string[]): string {
  const lines = examples.map((example) => `  berth get ${example}`);
  return `\nExit codes: 0 listed, 1 error.\n\nExamples:\n${lines.join('\n')}\n`;
}

async function get<Flags extends GetFlags>(
  io: CliIo,
  name: string | undefined,
  flags: Flags,
  definition: GetDefinition<Flags>,
): Promise<ExitCode> {
  const { namespace, allNamespaces = false, selector, output } = flags;
  if (allNamespaces && namespace !== undefined)
    throw wrongOption('--all-namespaces', 'contradicts --namespace: give one of them');
  if (output !== undefined) await checkGetOutput(output);
  const read = (hub: KubeApi): Promise<ReadObjects> =>
    readNamed(hub, { name, flags, labelSelector: selector }, definition);
  await withHub(io, flags, async (hub) => {
    const found = await read(hub);
    if (found.objects.length === 0 && name !== undefined && flags.watch !== true)
      throw notFound(name, definition);
    if (flags.watch === true) {
      const { watchListed } = await import('./watch-listed.ts');
      await watchListed(io, hub, { ...definition, namespace, output, first: found, read });
    } else await print(io, found, { output, isOne: name !== undefined, plural: definition.plural });
  });
  return 0;
}

/** @param given NAME, or NAMESPACE/NAME */
async function describe<Flags extends GetFlags>(
  io: CliIo,
  given: string,
  flags: Flags,
  definition: GetDefinition<Flags>,
): Promise<ExitCode> {
  const [namespace, name] = given.includes('/') ? given.split('/', 2) : [flags.namespace, given];
  const { describeFound } = await import('./describe-sections.ts');
  const text = await withHub(io, flags, async (hub) => {
    const found = await readNamed(hub, { name, flags: { ...flags, namespace } }, definition);
    if (found.objects.length === 0) throw notFound(given, definition);
    return describeFound(hub, found, definition.describe);
  });
  io.stdout.write(text);
  return 0;
}

/** @param name of the objects; undefined: all */
async function readNamed<Flags extends GetFlags>(
  hub: KubeApi,
  asked: {
    readonly name: string | undefined;
    readonly flags: Flags;
    readonly labelSelector?: string | undefined;
  },
  { read, nameOf = ({ metadata }) => metadata.name }: GetDefinition<Flags>,
): Promise<ReadObjects> {
  const { name, flags, labelSelector } = asked;
  const all = await read(hub, flags, { namespace: flags.namespace, labelSelector });
  return { ...all, objects: all.objects.filter((object) => name === undefined || nameOf(object) === name) };
}

function notFound<Flags extends GetFlags>(name: string, { noun, kinds }: GetDefinition<Flags>): InputError {
  return new InputError('not found on the hub', {
    code: 'kube.notfound',
    subject: `${noun ?? kinds[0].kind} ${name}`,
  });
}

interface Printing {
  readonly output: string | undefined;
  /** Whether a name was given: then one object is printed alone. */
  readonly isOne: boolean;
  readonly plural: string;
}

async function print(io: CliIo, read: ReadObjects, { output, isOne, plural }: Printing): Promise<void> {
  const { objects } = read;
  const document = (isOne && objects.length === 1 && objects[0]) || listOf(objects);
  const rendered = output && (await renderObjects(document, objects, output));
  if (rendered !== undefined) io.stdout.write(rendered);
  else if (objects.length === 0) io.stdout.write(`no ${plural}\n`);
  else {
    const { systemClock } = await import('@berth/runtime/clock/system-clock');
    const { header, rows } = tableOf(read, output, systemClock.now());
    io.stdout.write(renderTextTable(header, rows));
  }
}

/** As kubectl prints several objects. */
const listOf = (items: readonly KubeObject[]): object => ({
  ...{ apiVersion: 'v1', kind: 'List', metadata: { resourceVersion: '' } },
  items,
});
