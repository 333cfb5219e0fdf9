/** @throws Error for a page that has no such element */
export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (!element) throw new Error(`There is no element '${id}'.`);
  return element as T;
}

export interface Cell {
  text: string;
  /** `code` for what is no prose. */
  look?: 'good' | 'bad' | 'code' | undefined;
}

export function row(cells: Cell[]): HTMLTableRowElement {
  const line = document.createElement('tr');
  line.append(...cells.map(cellOf));
  return line;
}

function cellOf({ text, look }: Cell): HTMLTableCellElement {
  const cell = document.createElement('td');
  if (look === 'code') {
    cell.append(Object.assign(document.createElement('code'), { textContent: text }));
  } else {
    cell.textContent = text;
    if (look) cell.className = look;
  }
  return cell;
}

/** The beginning, by which two keys are told apart. */
export function short(key: string): string {
  return key.slice(0, 8);
}
