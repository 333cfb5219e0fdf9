import type { DataSource } from 'typeorm';
import { Product } from '../products/product.entity.js';

const CATALOGUE = [
  { sku: 'CAT-TREE-L', name: 'Cat tree, large', price: 19_800, currency: 'JPY', stock: 100 },
  { sku: 'FEATHER-WAND', name: 'Feather wand', price: 780, currency: 'JPY', stock: 100 },
  { sku: 'KIBBLE-2KG', name: 'Dry cat food, 2 kg', price: 1_980, currency: 'JPY', stock: 100 },
  { sku: 'LITTER-10L', name: 'Cat litter, 10 l', price: 1_280, currency: 'JPY', stock: 100 },
  { sku: 'WATER-FOUNTAIN', name: 'Water fountain', price: 3_980, currency: 'JPY', stock: 100 },
];

/** Adds the products that are missing and leaves the others, and their stock, as they are. */
export async function seedProducts(dataSource: DataSource): Promise<void> {
  await dataSource.createQueryBuilder().insert().into(Product).values(CATALOGUE).orIgnore().execute();
}
