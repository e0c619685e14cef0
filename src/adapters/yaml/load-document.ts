import yaml from 'js-yaml';
import type { YamlBudget } from './budget.ts';
import { MAX_LENGTH, readPlainBlock } from './block-reader.ts';
import { expandedSizeOf } from './expanded-size.ts';
import { kubectlSchema } from '@berth/kube/yaml/kubectl-schema';
import { UnrepresentableScalarError } from '@berth/kube/yaml/scalar';

/** The result of reading one document. Lines and columns are counted from 1 within the text of the document. */
export type LoadedDocument =
  | { readonly ok: true; readonly value: unknown; readonly aliases: number }
  | {
      readonly ok: false;
      readonly kind: 'syntax' | 'budget' | 'scalar';
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

const KUBECTL_SCHEMA = kubectlSchema();

/** Reads one document within limits. Aliased values are shared, not copied. */
export function loadDocument(text: string, budget: YamlBudget): LoadedDocument {
  if (text.length > budget.documentBytes)
    return refused(
      'budget',
      `document of ${text.length} characters, expected at most ${budget.documentBytes}`,
    );
  const plain = fitsPlainReader(budget) ? readPlainBlock(text) : undefined;
  if (plain !== undefined) return { ok: true, value: plain.value, aliases: 0 };
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

/** Whether the limits are so high that the length limit of the plain reader implies them. */
function fitsPlainReader({ nodes, keysPerMapping, depth }: YamlBudget): boolean {
  return nodes >= MAX_LENGTH && keysPerMapping >= MAX_LENGTH / 3 && depth >= 100;
}

function refused(kind: 'budget', message: string, line = 1, column = 1): LoadedDocument {
  return { ok: false, kind, message, line, column };
}

function failureOf(error: unknown, text: string, state: LoaderState | undefined): LoadedDocument {
  const line = (state?.line ?? 0) + 1;
  const column = state === undefined ? 1 : state.position - state.lineStart + 1;
  if (error instanceof OverBudget) return refused('budget', error.message, line, column);
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
    if (mayHoldManyKeys && state.kind === 'mapping' && state.result !== null) {
      const keys = Object.keys(state.result as object).length;
      if (keys > budget.keysPerMapping)
        throw new OverBudget(`more than ${budget.keysPerMapping} keys in one mapping`);
    }
  };
  return { listener, aliases: () => aliases, state: () => last };
}
