/** One step of a path. A list is what is between braces, or one side of a filter. */
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

/** `derived`: the end of a plain index, i.e. start + 1. An unknown bound is open. */
export type SliceBound =
  | { readonly known: false }
  | { readonly known: true; readonly value: number; readonly derived?: true };
