import { Command, type Option } from 'commander';
import { agentCommand } from '../../src/app/cli/commands/agent.ts';
import { flagsBefore } from '../../src/app/cli/commands/installation/hub-installation.ts';
import { serveCommand } from '../../src/app/cli/commands/controller/serve.ts';
import type { CliCommand } from '../../src/app/cli/commands/cli-command.ts';

/** A JSON schema, as far as that of the chart needs one. */
export interface ValueSchema {
  readonly type: string | readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly enum?: readonly string[];
  readonly items?: object;
  readonly additionalProperties?: boolean;
  readonly properties?: Readonly<Record<string, ValueSchema>>;
}

/** Flags that the chart sets itself, from other values. */
const OF_THE_CHART: ReadonlySet<string> = new Set([
  ...['kubeconfig', 'context', 'data', 'listen', 'tlsCert', 'tlsKey', 'tokenFile', 'config'],
  ...['admissionListen', 'printRbac', 'clusterName', 'bootstrapKubeconfig', 'hubKubeconfigSecret'],
  ...['hubKubeconfigDir', 'hubKubeconfig', 'hostingKubeconfig', 'healthListen', 'clusters'],
  // Those of --print-rbac of the agent.
  'namespace',
]);

/** The schema with a property for each flag of `berth serve` and `berth agent`. */
export function withFlags(schema: ValueSchema): ValueSchema {
  const { serve, agent, ...others } = schema.properties ?? {};
  const { flags, ...ofAgent } = agent?.properties ?? {};
  if (serve === undefined || agent === undefined || flags === undefined) throw new Error('has no flags');
  // In the order of the file.
  const properties = Object.fromEntries(
    Object.keys(schema.properties ?? {}).map((name) => {
      if (name === 'serve')
        return [name, { ...serve, properties: flagProperties(serveCommand, firstDuties(), []) }];
      if (name !== 'agent') return [name, others[name] as ValueSchema];
      const ofFlags = { ...flags, properties: flagProperties(agentCommand, new Map(), ['kind']) };
      const inOrder = Object.keys(agent.properties ?? {}).map((key) => [
        key,
        key === 'flags' ? ofFlags : ofAgent[key],
      ]);
      return [name, { ...agent, properties: Object.fromEntries(inOrder) as ValueSchema['properties'] }];
    }),
  );
  return { ...schema, properties };
}

/** The flags with which `berth init` starts the controllers, as values. */
function firstDuties(): ReadonlyMap<string, unknown> {
  return new Map(
    flagsBefore(undefined, false).map((flag) => {
      const [, name = '', value] = /^--([^=]+)(?:=(.*))?$/.exec(flag) ?? [];
      return [name, value === undefined ? true : [value]];
    }),
  );
}

function flagProperties(
  { register }: CliCommand,
  defaults: ReadonlyMap<string, unknown>,
  without: readonly string[],
): Readonly<Record<string, ValueSchema>> {
  const program = new Command();
  register(program, () => () => Promise.resolve());
  const options = program.commands[0]?.options ?? [];
  return Object.fromEntries(
    options
      .filter(
        (option) => !OF_THE_CHART.has(option.attributeName()) && !without.includes(option.attributeName()),
      )
      .map((option) => [option.attributeName(), flagProperty(option, defaults.get(option.name()))]),
  );
}

function flagProperty(option: Option, first: unknown): ValueSchema {
  const start = first === undefined ? (option.negate ? { default: true } : {}) : { default: first };
  const head = {
    description: `${option.negate ? 'false gives ' : ''}${option.long ?? ''}: ${option.description}`,
    ...start,
  };
  if (option.variadic) return { type: 'array', ...head, items: { type: 'string' }, examples: [['example']] };
  if (option.isBoolean() || option.negate || option.optional)
    return { type: 'boolean', ...head, examples: [option.negate || first === true ? false : true] };
  return { type: ['string', 'integer'], ...head, examples: ['example'] };
}

/** A value of the schema that is no object with values of its own. */
export interface Leaf {
  readonly path: readonly string[];
  readonly schema: ValueSchema;
}

export function leavesOf(schema: ValueSchema, path: readonly string[] = []): readonly Leaf[] {
  const { properties } = schema;
  if (properties === undefined) return [{ path, schema }];
  return Object.entries(properties).flatMap(([name, of]) => leavesOf(of, [...path, name]));
}

/** values.yaml: the defaults, each below its description. */
export function valuesYaml(schema: ValueSchema): string {
  const head = '# Generated from values.schema.json: UPDATE_GOLDEN=1 npx vitest run test/deploy.\n';
  return `${head}${valueLines(schema, '').join('\n')}\n`;
}

function valueLines({ properties = {} }: ValueSchema, indent: string): readonly string[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const comment = wrapped(schema.description ?? '', 100 - indent.length).map(
      (line) => `${indent}# ${line}`,
    );
    const between = indent === '' ? [''] : [];
    if (schema.properties !== undefined)
      return [
        ...between,
        ...comment,
        `${indent}${name}:${isBare(schema) ? ' {}' : ''}`,
        ...valueLines(schema, `${indent}  `),
      ];
    if (schema.default === undefined) return name === 'global' ? [] : [...comment, `${indent}# ${name}:`];
    return [...between, ...comment, `${indent}${name}: ${JSON.stringify(schema.default)}`];
  });
}

/** Whether no value of an object has a default. */
const isBare = (schema: ValueSchema): boolean =>
  leavesOf(schema).every(({ schema: { default: value } }) => value === undefined);

function wrapped(text: string, width: number): readonly string[] {
  const found: string[] = [];
  for (const word of text.split(' ')) {
    const last = found.at(-1);
    if (last !== undefined && last.length + word.length + 3 <= width)
      found[found.length - 1] = `${last} ${word}`;
    else found.push(word);
  }
  return found;
}

/** The rows of the table of values. */
export function valueRows(schema: ValueSchema): string {
  const rows = leavesOf(schema)
    .filter(({ path: [first] }) => first !== 'global')
    .map(({ path, schema: { description = '', default: value } }) => {
      const shown = value === undefined ? '' : `\`${JSON.stringify(value)}\``;
      return `| \`${path.join('.')}\` | ${description.replaceAll('|', '\\|')} | ${shown} |`;
    });
  return ['| value | what it does | default |', '|---|---|---|', ...rows].join('\n');
}
