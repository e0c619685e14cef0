/**
 * A node of a parsed JSONPath template, with the node types of client-go. A list holds the nodes between braces, or one operand of
 * a filter. Source: k8s.io/client-go, util/jsonpath/node.go.
 */
export type PathNode =
  | { readonly type: 'list'; readonly nodes: readonly PathNode[] }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'field'; readonly name: string }
  | { readonly type: 'slice'; readonly from: SliceBound; readonly to: SliceBound; readonly step: SliceBound }
  | {
      readonly type: 'filter';
      readonly left: ListNode;
      readonly right: ListNode;
      readonly operator: string;
    }
  | { readonly type: 'integer'; readonly value: number | bigint }
  | { readonly type: 'float'; readonly value: number }
  | { readonly type: 'boolean'; readonly value: boolean }
  | { readonly type: 'identifier'; readonly name: string }
  | { readonly type: 'wildcard' }
  | { readonly type: 'recursive' }
  | { readonly type: 'union'; readonly lists: readonly ListNode[] };

export interface ListNode {
  readonly type: 'list';
  readonly nodes: readonly PathNode[];
}

/** A bound of a slice. `known: false`: the bound is omitted. `derived`: the end of an index `[n]`, which is a slice from n to n + 1. */
export type SliceBound =
  | { readonly known: false }
  | { readonly known: true; readonly value: number; readonly derived?: true };
