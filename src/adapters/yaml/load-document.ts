import { kubectlSchema, UnrepresentableScalarError } from '@berth/kube/yaml/kubectl-schema';
import yaml from 'js-yaml';

/** The result of reading one document. Lines and columns are counted from 1 within the text of the document. */
export type LoadedDocument =
  | { readonly ok: true; readonly value: unknown; readonly aliases: number }
  | {
      readonly ok: false;
      readonly kind: 'syntax' | 'budget' | 'scalar' | 'key';
      readonly message: string;
      readonly line: number;
      readonly column: number;
    };

/** The parts of its state that js-yaml shows to a listener. */
interface LoaderState {
  readonly depth: number;
  readonly position: number;
  readonly line: number;
  readonly lineStart: number;
  readonly kind: string | null;
  readonly result: unknown;
}

class OverBudget extends Error {}

/** A mapping as a key, which no JSON has. A template that was not rendered looks like one: `{{ .Values.name }}`. */
class MappingAsKey extends Error {}

/** What the parser makes of it. */
const MAPPING_KEY = '[object Object]';

const KUBECTL_SCHEMA = kubectlSchema();

/** Reads one document within limits. Aliased values are shared, not copied. */
export function loadDocument(text: string, budget: YamlBudget): LoadedDocument {
  if (text.length > budget.documentBytes)
    return refused(
      'budget',
      `document of ${text.length} characters, expected at most ${budget.documentBytes}`,
    );
  const counter = makeBudgetListener(text, budget);
  try {
    const value: unknown = yaml.load(text, {
      schema: KUBECTL_SCHEMA,
      listener: counter.listener as never,
      maxDepth: budget.depth + 2,
      maxTotalMergeKeys: budget.mergedKeys,
    } as yaml.LoadOptions);
    if (counter.aliases() > 0) {
      const tooLarge = expandedSizeOf(value, budget.expandedBytes);
      if (tooLarge !== undefined) return refused('budget', tooLarge);
    }
    return { ok: true, value, aliases: counter.aliases() };
  } catch (error) {
    return failureOf(error, text, counter.state());
  }
}

function refused(kind: 'budget', message: string, line = 1, column = 1): LoadedDocument {
  return { ok: false, kind, message, line, column };
}

function failureOf(error: unknown, text: string, state: LoaderState | undefined): LoadedDocument {
  const line = (state?.line ?? 0) + 1;
  const column = state === undefined ? 1 : state.position - state.lineStart + 1;
  if (error instanceof OverBudget) return refused('budget', error.message, line, column);
  if (error instanceof MappingAsKey) {
    const message = 'got a mapping as a key, expected a text';
    return { ok: false, kind: 'key', message, line, column };
  }
  if (error instanceof UnrepresentableScalarError) {
    const start = Math.max(
      text.lastIndexOf(error.text, state?.position ?? text.length),
      state?.lineStart ?? 0,
    );
    const message = `got ${error.text}: ${error.message}; expected a number JSON can carry, or a quoted string`;
    return { ok: false, kind: 'scalar', message, line, column: start - (state?.lineStart ?? 0) + 1 };
  }
  if (error instanceof yaml.YAMLException) {
    const mark = error.mark as yaml.Mark | undefined;
    const at = { line: (mark?.line ?? 0) + 1, column: (mark?.column ?? 0) + 1 };
    return { ok: false, kind: 'syntax', message: error.reason, ...at };
  }
  throw error;
}

/** Counts while js-yaml composes, so that a YAML bomb is stopped before it is expanded. */
function makeBudgetListener(text: string, budget: YamlBudget) {
  let nodes = 0;
  let aliases = 0;
  let last: LoaderState | undefined;
  const mayHoldManyKeys = text.length > budget.keysPerMapping * 3;
  const listener = (event: 'open' | 'close', state: LoaderState): void => {
    last = state;
    if (event === 'open') {
      if (++nodes > budget.nodes) throw new OverBudget(`more than ${budget.nodes} nodes in one document`);
      if (state.depth > budget.depth + 1) throw new OverBudget(`nested deeper than ${budget.depth}`);
      return;
    }
    // Only an alias ends with a result, but without a kind.
    if (state.kind === null && state.result !== null && ++aliases > budget.aliases)
      throw new OverBudget(`more than ${budget.aliases} aliases in one document`);
    if (state.kind === 'mapping' && Object.hasOwn(state.result ?? {}, MAPPING_KEY)) throw new MappingAsKey();
    if (mayHoldManyKeys && state.kind === 'mapping' && state.result !== null) {
      const keys = Object.keys(state.result as object).length;
      if (keys > budget.keysPerMapping)
        throw new OverBudget(`more than ${budget.keysPerMapping} keys in one mapping`);
    }
  };
  return { listener, aliases: () => aliases, state: () => last };
}

/**
 * Checks that a value stays within `limitBytes` when all aliases are expanded, without expanding
 * them: each shared part is measured once.
 * @returns the problem, or undefined
 */
function expandedSizeOf(value: unknown, limitBytes: number): string | undefined {
  const sizes = new Map<object, number>();
  const enclosing = new Set<object>();
  let cyclic = false;

  const measure = (node: unknown): number => {
    if (typeof node === 'string') return node.length + 2;
    if (typeof node !== 'object' || node === null) return 5;
    const known = sizes.get(node);
    if (known !== undefined) return known;
    if (enclosing.has(node)) {
      cyclic = true;
      return 0;
    }
    enclosing.add(node);
    let size = 2;
    for (const [key, child] of Object.entries(node)) {
      size += (Array.isArray(node) ? 1 : key.length + 4) + measure(child);
      // Beyond the limit the exact number does not matter, and sums must not overflow.
      if (size > limitBytes) size = limitBytes + 1;
    }
    enclosing.delete(node);
    sizes.set(node, size);
    return size;
  };

  const size = measure(value);
  if (cyclic) return 'an alias refers to a value that contains it, expected a value without cycles';
  return size > limitBytes ? `more than ${limitBytes} bytes once its aliases are written out` : undefined;
}

/** Limits of one file; a file beyond them is rejected before it is parsed. */
export interface YamlBudget {
  readonly fileBytes: number;
  readonly documentBytes: number;
  readonly documents: number;
  /** Nesting of mappings and lists. */
  readonly depth: number;
  /** Keys, values and list entries of one document, with aliases not expanded. */
  readonly nodes: number;
  readonly keysPerMapping: number;
  readonly aliases: number;
  /** Keys copied by `<<` in one document. */
  readonly mergedKeys: number;
  /** Approximate size of the document as JSON with all aliases expanded. */
  readonly expandedBytes: number;
}

export const DEFAULT_YAML_BUDGET: YamlBudget = {
  fileBytes: 8 * 1024 * 1024,
  // What the API server takes in one request: the CustomResourceDefinitions of Argo CD have nearly half of it.
  documentBytes: 3 * 1024 * 1024,
  documents: 5_000,
  depth: 100,
  nodes: 300_000,
  keysPerMapping: 10_000,
  aliases: 1_000,
  mergedKeys: 10_000,
  expandedBytes: 4 * 1024 * 1024,
};
