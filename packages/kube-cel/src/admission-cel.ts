import { type CelProgram, compileCel } from './compile-cel.ts';
import { KUBERNETES_CEL } from './kubernetes-environment.ts';
import { AUTHORIZATION, AUTHORIZER_TYPES } from './library/authorization.ts';
import { compilePattern } from './library/regex.ts';
import { parseDuration, parseTimestamp } from './library/time.ts';
import type { CelNode } from './syntax/cel-node.ts';
import { parseCel } from './syntax/parse-cel.ts';
import type { CelEnvironment } from './value/cel-environment.ts';
import { celProblemText, type CelProblem, celProblem } from './value/cel-problem.ts';
import type { CelType } from './value/cel-type.ts';
import { BOOL, celType, declaredTypeText, DYN, INT, objectType, STRING } from './value/cel-type.ts';
import { CelFailure } from './value/cel-value.ts';

/**
 * Expressions of admission webhooks and policies. They may use the variables `object`, `oldObject`,
 * `request` and `namespaceObject`; some also `params`, `authorizer`, `authorizer.requestResource`
 * and `variables`. Source: apiserver `pkg/admission/plugin/cel/compile.go`.
 */

/** Which of the optional variables an expression may use. */
export interface AdmissionNames {
  readonly params: boolean;
  readonly authorizer: boolean;
  /**
   * Type of `variables`, with the variables compiled so far; undefined where the variable does not
   * exist.
   */
  readonly variables?: CelType | undefined;
}

/** The type that an expression must have, as checked at compile time. */
export type AdmissionResult = 'bool' | 'string' | 'string or null' | 'any';

export type AdmissionCompilation =
  | { readonly ok: true; readonly program: CelProgram }
  /** The message of the API server. */
  | { readonly ok: false; readonly detail: string };

const RESULTS: Readonly<Record<AdmissionResult, readonly string[]>> = {
  bool: ['bool'],
  string: ['string'],
  'string or null': ['string', 'null_type'],
  any: [],
};

/**
 * Compiles one expression; never throws on bad input.
 * @param overrides types that replace those of the API server's environment, for type checking
 */
export function compileAdmission(
  expression: string,
  names: AdmissionNames,
  wanted: AdmissionResult,
  overrides: Readonly<Record<string, CelType>> = {},
): AdmissionCompilation {
  const compilation = compileCel(expression, environmentOf(names).withVariables(overrides));
  const problem = compilation.ok ? literalProblem(expression) : compilation.problem;
  if (!compilation.ok || problem !== undefined)
    return { ok: false, detail: problem === undefined ? '' : celProblemText(problem) };
  const detail = resultProblem(compilation.program.type, RESULTS[wanted]);
  return detail === undefined ? compilation : { ok: false, detail };
}

const STRINGS = celType('list', STRING);
const STRING_MAP = celType('map', STRING, STRING);
const TIME = celType('timestamp');
const KIND = objectType('kubernetes.GroupVersionKind', { group: STRING, version: STRING, kind: STRING });
const RESOURCE = objectType('kubernetes.GroupVersionResource', {
  group: STRING,
  version: STRING,
  resource: STRING,
});
const USER = objectType('kubernetes.UserInfo', {
  username: STRING,
  uid: STRING,
  groups: STRINGS,
  extra: celType('map', STRING, STRINGS),
});
const REQUEST = objectType('kubernetes.AdmissionRequest', {
  kind: KIND,
  resource: RESOURCE,
  subResource: STRING,
  requestKind: KIND,
  requestResource: RESOURCE,
  requestSubResource: STRING,
  name: STRING,
  namespace: STRING,
  operation: STRING,
  userInfo: USER,
  dryRun: BOOL,
  options: DYN,
});
const CONDITION = objectType('kubernetes.NamespaceCondition', {
  status: STRING,
  type: STRING,
  lastTransitionTime: TIME,
  message: STRING,
  reason: STRING,
});
const NAMESPACE = objectType('kubernetes.Namespace', {
  metadata: objectType('kubernetes.NamespaceMetadata', {
    name: STRING,
    generateName: STRING,
    namespace: STRING,
    labels: STRING_MAP,
    annotations: STRING_MAP,
    UID: STRING,
    creationTimestamp: TIME,
    deletionGracePeriodSeconds: INT,
    deletionTimestamp: TIME,
    generation: INT,
    resourceVersion: STRING,
    finalizers: STRINGS,
  }),
  spec: objectType('kubernetes.NamespaceSpec', { finalizers: STRINGS }),
  status: objectType('kubernetes.NamespaceStatus', {
    conditions: celType('list', CONDITION),
    phase: STRING,
  }),
});
const ADMISSION = KUBERNETES_CEL.withFunctions(AUTHORIZATION).withVariables({
  object: DYN,
  oldObject: DYN,
  request: REQUEST,
  namespaceObject: NAMESPACE,
});

function environmentOf({ params, authorizer, variables }: AdmissionNames): CelEnvironment {
  return ADMISSION.withVariables({
    ...(params && { params: DYN }),
    ...(authorizer && {
      authorizer: celType(AUTHORIZER_TYPES.authorizer),
      'authorizer.requestResource': celType(AUTHORIZER_TYPES.resourceCheck),
    }),
    ...(variables && { variables }),
  });
}

function resultProblem(type: CelType, wanted: readonly string[]): string | undefined {
  if (wanted.length === 0 || wanted.includes(type.name)) return undefined;
  const names = wanted.length === 1 ? wanted.join() : `one of [${wanted.join(' ')}]`;
  return `must evaluate to ${names} but got ${declaredTypeText(type)}`;
}

/**
 * The type of `variables` with one variable added. Fields of objects and optionals are not typed.
 * @param type undefined: no variables yet
 */
export function variablesAfter(
  type: CelType | undefined,
  added?: readonly [name: string, type: CelType],
): CelType {
  const fields = new Map(type?.fields);
  if (added !== undefined) fields.set(added[0], simplified(added[1]));
  return { name: 'kubernetes.variables', params: [], fields };
}

const SIMPLE = new Set([
  'bool',
  'bytes',
  'double',
  'duration',
  'int',
  'null_type',
  'string',
  'timestamp',
  'uint',
]);

function simplified(type: CelType): CelType {
  if (SIMPLE.has(type.name)) return type;
  if (type.name === 'list' || type.name === 'map') return celType(type.name, ...type.params.map(simplified));
  return DYN;
}

/** One variable of a policy. */
export interface NamedExpression {
  readonly name: string;
  readonly expression: string;
}

export interface CompiledVariable extends NamedExpression {
  readonly compilation: AdmissionCompilation;
}

/**
 * Compiles variables in order: each may use the earlier ones. A variable that does not compile is
 * still declared for the later ones.
 */
export function compileVariables(
  variables: readonly NamedExpression[],
  names: Omit<AdmissionNames, 'variables'>,
  overrides?: Readonly<Record<string, CelType>>,
): { readonly compiled: readonly CompiledVariable[]; readonly type: CelType } {
  let type = variablesAfter(undefined);
  const compiled = variables.map(({ name, expression }) => {
    const compilation = compileAdmission(expression, { ...names, variables: type }, 'any', overrides);
    type = variablesAfter(type, [name, compilation.ok ? compilation.program.type : DYN]);
    return { name, expression, compilation };
  });
  return { compiled, type };
}

/** The first constant pattern, time or duration that is invalid. */
function literalProblem(expression: string): CelProblem | undefined {
  const parsed = parseCel(expression);
  if ('problem' in parsed) return undefined;
  const found = firstBad(parsed.node);
  return found && celProblem(expression, found.at, `invalid ${found.name} argument`);
}

function firstBad(node: CelNode): { readonly at: number; readonly name: string } | undefined {
  const own = node.kind === 'call' ? badArgument(node) : undefined;
  if (own !== undefined) return own;
  for (const part of partsOf(node)) {
    const found = firstBad(part);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Checks of constant arguments, by function. Source: cel-go `cel/validator.go`. */
const CHECKS: Readonly<Record<string, (text: string) => boolean>> = {
  matches: (text) => !(compilePattern(text) instanceof CelFailure),
  timestamp: (text) => 'nanos' in parseTimestamp(text),
  duration: (text) => 'nanos' in parseDuration(text),
};

function badArgument(node: Extract<CelNode, { kind: 'call' }>) {
  const { name } = node;
  const last = node.args.at(-1);
  if (!Object.hasOwn(CHECKS, name) || last?.kind !== 'literal' || typeof last.value !== 'string')
    return undefined;
  return CHECKS[name]?.(last.value) === true ? undefined : { at: last.at, name };
}

function partsOf(node: CelNode): readonly CelNode[] {
  switch (node.kind) {
    case 'literal':
    case 'ident':
      return [];
    case 'select':
      return [node.operand];
    case 'index':
      return [node.operand, node.index];
    case 'list':
      return node.items;
    case 'map':
      return node.entries.flat();
    case 'call':
      return node.receiver === undefined ? node.args : [node.receiver, ...node.args];
  }
}
