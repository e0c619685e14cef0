import type { CelValue } from '../value/cel-value.ts';

/** The syntax tree. `at` is the UTF-16 offset that an error about the node points to. Operators are calls (`_+_`). */
export type CelNode =
  | { readonly kind: 'literal'; readonly value: CelValue; readonly at: number }
  | { readonly kind: 'ident'; readonly name: string; readonly at: number }
  | {
      readonly kind: 'select';
      readonly operand: CelNode;
      readonly field: string;
      readonly optional: boolean;
      readonly at: number;
    }
  | {
      readonly kind: 'index';
      readonly operand: CelNode;
      readonly index: CelNode;
      readonly optional: boolean;
      readonly at: number;
    }
  | CelCallNode
  | {
      readonly kind: 'list';
      readonly items: readonly CelNode[];
      /** Items, by index, that are left out when they have no value: `[?x]`. */
      readonly optional: ReadonlySet<number>;
      readonly at: number;
    }
  | {
      readonly kind: 'map';
      readonly entries: readonly (readonly [CelNode, CelNode])[];
      /** Entries, by index, that are left out when their value is absent: `{?k: v}`. */
      readonly optional: ReadonlySet<number>;
      readonly at: number;
    };

export interface CelCallNode {
  readonly kind: 'call';
  readonly name: string;
  readonly receiver: CelNode | undefined;
  readonly args: readonly CelNode[];
  readonly at: number;
}
